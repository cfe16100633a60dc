package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockMode;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;

import static org.assertj.core.api.Assertions.assertThat;

/** The modes of annotated methods, from the annotation to the store. */
class LockModeTests {

	private static final LockRequest CATALOG = LockRequest.of(LockKey.of("catalog"));

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class));

	private final ApplicationContextRunner local = this.runner.withPropertyValues("distributed-lock.provider=local",
			"distributed-lock.wait-time=0s");

	private void assertRefused(ApplicationContextRunner application, Class<?> bean, LockError error) {
		application.withBean(bean)
			.run((context) -> assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(error)));
	}

	@Test
	void methodsHaveTheModesOfTheirAnnotations() {
		this.local.withBean(Catalog.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			Catalog catalog = context.getBean(Catalog.class);
			try (LockLease reader = locks.acquire(CATALOG.shared())) {
				assertThat(reader.mode(CATALOG.keys().get(0))).isEqualTo(LockMode.SHARED);
				assertThat(catalog.export()).isEqualTo(LockMode.SHARED);
				assertThat(catalog.quote()).isEqualTo(LockMode.PERMIT);
				assertThat(locks.tryAcquire(CATALOG)).isNull();
				assertThat(locks.tryAcquire(CATALOG.withPermits(1))).isNull();
			}
			locks.acquire(CATALOG).close();
		});
	}

	@Test
	void asynchronousResultsHaveTheirSharesUntilTheyAreComplete() {
		this.local.withBean(Catalog.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			Catalog catalog = context.getBean(Catalog.class);
			LockRequest patient = CATALOG.withWaitTime(Duration.ofSeconds(30));
			for (boolean reactive : new boolean[] { false, true }) {
				CompletableFuture<String> work = new CompletableFuture<>();
				CompletableFuture<String> result = reactive ? catalog.mono(work).toFuture() : catalog.later(work);
				assertThat(locks.tryAcquire(CATALOG)).isNull();
				locks.acquire(CATALOG.shared()).close();
				assertThat(result).isNotDone();
				work.complete("done");
				assertThat(locks.tryAcquire(patient)).isNotNull().satisfies(LockLease::close);
			}
		});
	}

	@Test
	void modeThatTheStoreDoesNotHaveIsRefusedAtStart() {
		ApplicationContextRunner plain = this.runner.withBean(PlainProvider.class);
		assertRefused(plain, Catalog.class, LockError.MODE_UNSUPPORTED);
		plain.withBean(Exclusive.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void contradictionsAreRefusedAtStart() {
		for (Class<?> contradiction : List.of(SharedWithPermits.class, PermitWithoutNumber.class, Negative.class)) {
			assertRefused(this.local, contradiction, LockError.INVALID_PERMITS);
		}
		assertRefused(this.local, SharedWithMinHold.class, LockError.INVALID_MIN_HOLD);
	}

	/**
	 * A provider without shares: not a mock, which would change the type for all tests.
	 */
	static class PlainProvider implements LockProvider {

		private final LocalLockProvider local = new LocalLockProvider();

		@Override
		public String name() {
			return "plain";
		}

		@Override
		public boolean isBlocking() {
			return false;
		}

		@Override
		public LockContender newContender(LockKey key, Runnable onNotified) {
			return this.local.newContender(key, onNotified);
		}

		@Override
		public StoreCall<Map<LockGrant, RenewalOutcome>> renew(Map<LockGrant, Duration> leases, Duration timeout) {
			return this.local.renew(leases, timeout);
		}

		@Override
		public StoreCall<ReleaseOutcome> release(LockKey key, OwnerId owner, Duration keepFor, Duration timeout) {
			return this.local.release(key, owner, keepFor, timeout);
		}

		@Override
		public void check(Duration timeout) {
		}

	}

	static class Catalog {

		@DistributedLock(name = "catalog", mode = LockMode.SHARED)
		LockMode export() {
			return LockContext.current().mode(CATALOG.keys().get(0));
		}

		@DistributedLock(name = "catalog", mode = LockMode.SHARED)
		CompletableFuture<String> later(CompletableFuture<String> work) {
			return work;
		}

		@DistributedLock(name = "catalog", mode = LockMode.SHARED)
		Mono<String> mono(CompletableFuture<String> work) {
			return Mono.fromFuture(() -> work, true);
		}

		@DistributedLock(name = "catalog", permits = 2)
		LockMode quote() {
			return LockContext.current().mode(CATALOG.keys().get(0));
		}

	}

	static class Exclusive {

		@DistributedLock(name = "catalog")
		void update() {
		}

	}

	static class SharedWithPermits {

		@DistributedLock(name = "catalog", mode = LockMode.SHARED, permits = 2)
		void run() {
		}

	}

	static class PermitWithoutNumber {

		@DistributedLock(name = "catalog", mode = LockMode.PERMIT)
		void run() {
		}

	}

	static class Negative {

		@DistributedLock(name = "catalog", permits = -1)
		void run() {
		}

	}

	static class SharedWithMinHold {

		@DistributedLock(name = "catalog", mode = LockMode.SHARED, minHold = "1m")
		void run() {
		}

	}

}
