package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on the engine's life: shutdown keeps running bodies locked,
 * listeners do no harm, and released keys leave no entry.
 */
interface LifecycleContract extends ContractSupport {

	private static void assertRefused(ThrowingCallable call) {
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
	}

	@Test
	default void shutdownRefusesWaitersAndRenewsForRunningBodies() {
		withShortLease((leaseTime) -> {
			CountDownLatch finish = new CountDownLatch(1);
			try {
				assertShutdownRenewsUntil(finish, leaseTime);
			}
			finally {
				finish.countDown();
			}
		});
	}

	private void assertShutdownRenewsUntil(CountDownLatch finish, Duration leaseTime) throws Exception {
		LockKey held = freshKey();
		LockKey busy = freshKey();
		process().acquire(busy);
		ContractProcess stopping = process();
		ContractProcess other = process();
		LockTemplate locks = stopping.locks();
		AtomicReference<LockLease> running = new AtomicReference<>();
		TestThread<String> body = TestThread
			.start(() -> locks.execute(LockRequest.of(held).withLease(leaseTime), (lease) -> {
				running.set(lease);
				finish.await();
				lease.ensureHeld();
				return "result";
			}));
		await().atMost(PATIENCE).until(() -> running.get() != null || body.isDone());
		LockLease lease = running.get();
		assertThat(lease).isNotNull();
		TestThread<LockLease> waiter = TestThread
			.start(() -> locks.acquire(LockRequest.of(busy).withWaitTime(PATIENCE)));
		await().atMost(PATIENCE).until(() -> stopping.provider().attempts() > 1 && waiter.isWaiting());
		long stopped = System.nanoTime();
		TestThread<Void> shutdown = TestThread.start(() -> {
			locks.stop(PATIENCE);
			return null;
		});
		assertRefused(waiter::result);
		assertThat(ContractSupport.since(stopped)).isLessThan(TimeBounds.withLoad(Duration.ofSeconds(1)));
		assertRefused(() -> locks.acquire(LockRequest.of(freshKey())));
		assertRefused(() -> locks.tryAcquire(LockRequest.of(freshKey())));
		ContractSupport.assertStays(leaseTime.multipliedBy(3).dividedBy(2),
				() -> ContractSupport.isHeldAlone(lease, other, held));
		assertThat(shutdown.isDone()).isFalse();
		finish.countDown();
		assertThat(body.result()).isEqualTo("result");
		shutdown.result();
		assertThat(ContractSupport.since(stopped)).isLessThan(PATIENCE);
		assertThat(other.isBusy(held)).isFalse();
	}

	@Test
	default void shutdownKeepsTheLockOfARunningBody() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess other = process();
			LockTemplate locks = process().locks();
			long requested = System.nanoTime();
			LockLease lease = locks.acquire(LockRequest.of(key).withLease(leaseTime));
			locks.close();
			assertThat(ContractSupport.isHeldAlone(lease, other, key)).isTrue();
			await().atMost(PATIENCE.plus(leaseTime)).until(() -> !other.isBusy(key));
			ContractSupport.assertNotEarly(requested, leaseTime);
			assertThat(lease.isHeld()).isFalse();
		});
	}

	@Test
	default void listenersAndObserversAreNotifiedInOrder() {
		LockRecorder recorder = new LockRecorder();
		LockKey key = freshKey();
		LockTemplate locks = process().locks(recorder);
		try (LockLease lease = locks.acquire(LockRequest.of(key))) {
			assertThat(locks.tryAcquire(LockRequest.of(key).withWaitTime(Duration.ZERO))).isNull();
			lease.ensureHeld();
		}
		await().untilAsserted(() -> assertThat(recorder.events()).contains("busy", "observed BUSY")
			.containsSubsequence("observed ACQUIRED", "observed hold", "observed end")
			.containsSubsequence("acquired", "released"));
	}

	@Test
	default void blockedOrThrowingListenerDoesNotAffectLocks() {
		CountDownLatch blocked = new CountDownLatch(1);
		AtomicInteger calls = new AtomicInteger();
		LockTemplate locks = process().locks(new LockRecorder() {

			@Override
			public void onAcquired(LockLease lease) {
				if (calls.incrementAndGet() == 1) {
					try {
						blocked.await();
					}
					catch (InterruptedException ex) {
						Thread.currentThread().interrupt();
					}
				}
				throw new IllegalStateException("of the listener");
			}

			@Override
			void holdStarted() {
				throw new IllegalStateException("of the observer");
			}

		});
		LockKey key = freshKey();
		long start = System.nanoTime();
		for (int round = 0; round < 20; round++) {
			try (LockLease lease = locks.acquire(LockRequest.of(key))) {
				lease.ensureHeld();
			}
		}
		assertThat(ContractSupport.since(start)).isLessThan(Duration.ofSeconds(5));
		await().atMost(PATIENCE).until(() -> calls.get() >= 20);
		blocked.countDown();
	}

	@Test
	default void thousandKeysLeaveNothingBehind() throws Exception {
		acquireAndRelease(1000);
	}

	@Test
	@Soak
	default void hundredThousandKeysLeaveNothingBehind() throws Exception {
		acquireAndRelease(100_000);
	}

	private void acquireAndRelease(int keys) throws Exception {
		LockTemplate locks = process().locks();
		AtomicInteger unanswered = new AtomicInteger();
		List<TestThread<Void>> threads = new ArrayList<>();
		for (int thread = 0; thread < 4; thread++) {
			threads.add(TestThread.start(() -> {
				for (int number = 0; number < keys / 4; number++) {
					try {
						locks.acquire(LockRequest.of(freshKey())).close();
					}
					catch (LockProviderException ex) {
						unanswered.incrementAndGet();
					}
				}
				return null;
			}));
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		// A machine that is slow for a second is no reason to leave something either.
		assertThat(unanswered).hasValueLessThan(keys / 10);
		assertStoreIsEmpty();
	}

}
