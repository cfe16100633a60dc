package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.test.util.ReflectionTestUtils;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.LossRegistration;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.reactive.ReactiveLockTemplate;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link LossRegistration}.
 */
class LossRegistrationTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final int CALLS = 100;

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	private final LockRequest request = LockRequest.of(LockKey.of("registered"));

	private final Work work = new LockedProxies(this.locks).ofClass(new Work());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private static void assertEmpty(LockLease lease) {
		assertThat(ReflectionTestUtils.getField(lease, "lossActions")).isNull();
	}

	@Test
	void nestedCallsLeaveNothingAtTheEnclosingLock() {
		this.locks.execute(this.request, (lease) -> {
			for (int i = 0; i < CALLS; i++) {
				this.work.value();
			}
			assertEmpty(lease);
			return null;
		});
	}

	@Test
	void nestedStagesLeaveNothingAtTheEnclosingLock() {
		this.locks.execute(this.request, (lease) -> {
			for (int i = 0; i < CALLS; i++) {
				CompletableFuture<String> pending = new CompletableFuture<>();
				CompletableFuture<String> result = this.work.stage(pending);
				assertThat(ReflectionTestUtils.getField(lease, "lossActions")).isNotNull();
				pending.complete("done");
				result.join();
			}
			assertEmpty(lease);
			return null;
		});
	}

	@Test
	void nestedPublishersLeaveNothingAtTheEnclosingLock() {
		new ReactiveLockTemplate(this.locks).execute(this.request,
				(lease) -> Mono.defer(this.work::mono).repeat(CALLS).then(Mono.fromRunnable(() -> assertEmpty(lease))))
			.block(PATIENCE);
	}

	@Test
	void actionThatWasRemovedDoesNotRun() {
		try (LockLease lease = this.locks.acquire(this.request)) {
			AtomicInteger removed = new AtomicInteger();
			AtomicInteger kept = new AtomicInteger();
			LossRegistration first = lease.onLost(removed::incrementAndGet);
			lease.onLost(kept::incrementAndGet);
			LossRegistration last = lease.onLost(removed::incrementAndGet);
			first.remove();
			first.remove();
			last.remove();
			this.locks.forceRelease(this.request.keys().get(0));
			Awaitility.await().atMost(PATIENCE).until(() -> kept.get() == 1);
			lease.onLost(kept::incrementAndGet);
			Awaitility.await().atMost(PATIENCE).until(() -> kept.get() == 2);
			last.remove();
			assertThat(removed).hasValue(0);
		}
	}

	@Test
	void removalBesideALossRunsEachActionOnceAtMost() throws Exception {
		LockKey key = this.request.keys().get(0);
		for (int round = 0; round < CALLS; round++) {
			CyclicBarrier start = new CyclicBarrier(2);
			AtomicInteger removed = new AtomicInteger();
			AtomicInteger kept = new AtomicInteger();
			try (LockLease lease = this.locks.acquire(this.request)) {
				lease.onLost(kept::incrementAndGet);
				LossRegistration registration = lease.onLost(removed::incrementAndGet);
				CompletableFuture<Void> loss = CompletableFuture.runAsync(() -> {
					await(start);
					this.locks.forceRelease(key);
				});
				await(start);
				registration.remove();
				loss.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
				Awaitility.await().atMost(PATIENCE).until(() -> kept.get() == 1);
			}
			assertThat(removed.get()).isLessThanOrEqualTo(1);
		}
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Work {

		@DistributedLock(name = "registered", onLost = OnLost.INTERRUPT)
		public void value() {
			// Nothing to do.
		}

		@DistributedLock(name = "registered", onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> stage(CompletableFuture<String> pending) {
			return pending;
		}

		@DistributedLock(name = "registered", onLost = OnLost.INTERRUPT)
		public Mono<String> mono() {
			return Mono.just("done");
		}

	}

}
