package io.distributedlock.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.mockito.Answers;
import org.mockito.BDDMockito;
import org.mockito.Mockito;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockMode;
import io.distributedlock.LockOperations;
import io.distributedlock.LockRequest;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.provider.LockProvider;

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
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
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
	void modeThatTheStoreDoesNotHaveIsRefusedAtStart() {
		LockProvider provider = Mockito.mock(LockProvider.class, Answers.CALLS_REAL_METHODS);
		BDDMockito.given(provider.name()).willReturn("plain");
		ApplicationContextRunner plain = this.runner.withBean(LockProvider.class, () -> provider);
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

	static class Catalog {

		@DistributedLock(name = "catalog", mode = LockMode.SHARED)
		LockMode export() {
			return LockContext.current().mode(CATALOG.keys().get(0));
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
