package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockGrant;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on interrupts: an interrupt ends a wait with its own exception,
 * keeps the flag and leaves no entry in the store.
 */
interface InterruptContract extends ContractSupport {

	private static long untilInterrupted(LockTemplate locks, LockRequest request) {
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> locks.acquire(request))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo(request.keys().get(0)));
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		return System.nanoTime();
	}

	@Test
	default void interruptEndsTheWaitOfHeadAndFollower() {
		inTwoRounds(this::assertInterruptEndsTheWait);
	}

	private void assertInterruptEndsTheWait() throws Exception {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		ContractProcess waiting = process();
		LockTemplate locks = waiting.locks();
		LockRequest request = LockRequest.of(key).withWaitTime(PATIENCE);
		TestThread<Long> head = TestThread.start(() -> untilInterrupted(locks, request));
		await().until(() -> waiting.provider().attempts() > 0 && head.isWaiting());
		TestThread<Long> follower = TestThread.start(() -> untilInterrupted(locks, request));
		await().until(follower::isWaiting);
		try {
			for (TestThread<Long> thread : List.of(follower, head)) {
				long interrupted = System.nanoTime();
				thread.interrupt();
				assertThat(Duration.ofNanos(thread.result() - interrupted))
					.isLessThan(TimeBounds.withLoad(Duration.ofMillis(100)));
			}
		}
		finally {
			holder.release(grant);
		}
		assertStoreIsEmpty();
	}

	@Test
	default void interruptedThreadAcquiresNothing() throws Exception {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		TestThread.start(() -> {
			Thread.currentThread().interrupt();
			return untilInterrupted(locks, LockRequest.of(key));
		}).result();
		process().acquire(key);
	}

	@Test
	default void interruptedBodyStillReleasesItsLock() throws Exception {
		LockKey key = freshKey();
		LockTemplate locks = process().locks();
		assertThat(TestThread.start(() -> {
			locks.execute(LockRequest.of(key), (lease) -> {
				Thread.currentThread().interrupt();
				return null;
			});
			return Thread.currentThread().isInterrupted();
		}).result()).isTrue();
		process().acquire(key);
	}

	@Test
	default void interruptsAtAnyMomentLeaveNothingBehind() throws Exception {
		// What is left behind does not expire before the end of the test.
		LockRequest request = LockRequest.of(freshKey())
			.withWaitTime(Duration.ofMillis(20))
			.withLease(Duration.ofMinutes(5));
		LockTemplate locks = process().locks();
		LockTemplate rival = process().locks();
		Random random = new Random(23);
		for (int round = 0; round < 100; round++) {
			TestThread<Boolean> thread = TestThread.start(() -> {
				try (LockLease lease = locks.tryAcquire(request)) {
					return lease != null;
				}
				catch (LockInterruptedException ex) {
					return false;
				}
			});
			try (LockLease lease = (round % 2 == 0) ? rival.tryAcquire(request) : null) {
				TestThread.pass(Duration.ofNanos(random.nextInt(3_000_000)));
				thread.interrupt();
			}
			thread.result();
		}
		assertStoreIsEmpty();
	}

}
