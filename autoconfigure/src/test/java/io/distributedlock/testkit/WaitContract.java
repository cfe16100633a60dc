package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ProcessLabel;

import static io.distributedlock.testkit.ContractConstants.CALL_TIMEOUT;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.SHORT_WAIT;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on waiting: a wait ends in time and reports the store's answer.
 */
interface WaitContract extends ContractSupport {

	@Test
	default void acquireReportsBusyWhenTheWaitTimeIsOver() {
		inRounds(SHORT_WAIT, this::assertBusyIsReported);
	}

	private void assertBusyIsReported(Duration waitTime) {
		LockKey key = freshKey();
		process().acquire(key);
		LockTemplate locks = process().locks();
		long start = System.nanoTime();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> locks.acquire(LockRequest.of(key).withWaitTime(waitTime)))
			.satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.BUSY);
				assertThat(ex.key()).isEqualTo(key);
				Rounds.promise(() -> assertThat(ex.waited()).isGreaterThanOrEqualTo(waitTime.minusMillis(5)));
				assertThat(ex.waited()).isLessThanOrEqualTo(waitTime.plus(TOLERANCE));
				assertThat(ex.holder()).isNotNull();
			});
		ContractSupport.assertWaited(start, waitTime);
		start = System.nanoTime();
		Rounds.promise(() -> assertThat(locks.tryAcquire(LockRequest.of(key).withWaitTime(waitTime))).isNull());
		ContractSupport.assertWaited(start, waitTime);
	}

	@Test
	default void busyLockNamesItsHolderToItsOwnProcessAsToOthers() {
		LockKey key = freshKey();
		LockTemplate holder = process().locks();
		try (LockLease lease = holder.acquire(LockRequest.of(key))) {
			assertThat(lease.isHeld()).isTrue();
			for (LockTemplate locks : List.of(holder, process().locks())) {
				assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> locks.acquire(LockRequest.of(key).withWaitTime(Duration.ZERO)))
					.withMessageMatching("DL-101: Lock '.*' is held by '" + Pattern.quote(ProcessLabel.get())
							+ "' for [0-9]+ ms and did not become free .*");
			}
		}
	}

	@Test
	default void waitTimeIncludesTheLocalQueue() {
		inRounds(SHORT_WAIT, this::assertWaitTimeIncludesTheLocalQueue);
	}

	private void assertWaitTimeIncludesTheLocalQueue(Duration waitTime) throws Exception {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		LockTemplate locks = process().locks();
		TestThread<LockLease> ahead = TestThread.start(() -> locks.acquire(LockRequest.of(key).withWaitTime(PATIENCE)));
		await().until(ahead::isWaiting);
		long start = System.nanoTime();
		Rounds.promise(() -> assertThat(locks.tryAcquire(LockRequest.of(key).withWaitTime(waitTime))).isNull());
		ContractSupport.assertWaited(start, waitTime);
		assertThat(ahead.isDone()).isFalse();
		holder.release(grant);
		ahead.result().close();
	}

	@Test
	default void zeroWaitTimeMakesOneAttemptWithoutQueueEntry() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		ContractProcess other = process();
		assertThat(other.locks().tryAcquire(LockRequest.of(key).withWaitTime(Duration.ZERO))).isNull();
		assertThat(other.provider().attempts()).isEqualTo(1);
		holder.release(grant);
		process().acquire(key);
	}

	@Test
	default void waiterAcquiresTheLockOfADeadHolderOnExpiry() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			LockTemplate locks = process().locks();
			ContractProcess dead = process();
			long requested = System.nanoTime();
			dead.acquire(key, leaseTime);
			long granted = System.nanoTime();
			try (LockLease next = locks.acquire(LockRequest.of(key).withWaitTime(PATIENCE.plus(leaseTime)))) {
				ContractSupport.assertNotEarly(requested, leaseTime);
				assertThat(ContractSupport.since(granted)).isLessThanOrEqualTo(leaseTime.plus(TOLERANCE));
				assertThat(next.isHeld()).isTrue();
			}
		});
	}

	@Test
	default void waiterAcquiresAReleasedLockWithinOnePoll() {
		inTwoRounds(this::assertReleasedLockIsAcquiredWithinOnePoll);
	}

	private void assertReleasedLockIsAcquiredWithinOnePoll() throws Exception {
		LockKey key = freshKey();
		ContractProcess waiting = process();
		LockLease held = process().locks().acquire(LockRequest.of(key));
		TestThread<Long> waiter = TestThread.start(() -> {
			try (LockLease lease = waiting.locks().acquire(LockRequest.of(key).withWaitTime(PATIENCE))) {
				lease.ensureHeld();
				return System.nanoTime();
			}
		});
		await().until(() -> waiting.provider().attempts() > 0 && waiter.isWaiting());
		long released = System.nanoTime();
		held.close();
		Duration took = Duration.ofNanos(waiter.result() - released);
		assertThat(took).isLessThanOrEqualTo(fixture().pollBound().plus(TOLERANCE));
	}

	@Test
	default void thousandWaitersOfAProcessAreOneContender() {
		inRounds(SHORT_WAIT, (waitTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			LockGrant grant = holder.acquire(key);
			try {
				assertWaitersAreOneContender(waitTime, key);
			}
			finally {
				holder.release(grant);
			}
		});
		assertStoreIsEmpty();
	}

	private void assertWaitersAreOneContender(Duration waitTime, LockKey key) {
		ContractProcess waiting = process();
		LockTemplate locks = waiting.locks();
		List<CompletableFuture<LockLease>> waiters = new ArrayList<>();
		// All waits end together: one that goes on would attempt as the next head.
		long start = System.nanoTime();
		long end = start + waitTime.toNanos();
		for (int waiter = 0; waiter < 1000; waiter++) {
			Duration wait = Duration.ofNanos(Math.max(end - System.nanoTime(), 0));
			waiters.add(locks.acquireAsync(LockRequest.of(key).withWaitTime(wait)));
		}
		// An attempt that is given up may end beside the next one, but none is before.
		Duration certain = (waitTime.compareTo(CALL_TIMEOUT) < 0) ? waitTime : CALL_TIMEOUT;
		await().atMost(PATIENCE.plus(waitTime)).until(() -> {
			int atOnce = waiting.provider().mostAttemptsAtOnce();
			if (ContractSupport.since(start).compareTo(certain) < 0) {
				Rounds.promise(() -> assertThat(atOnce).isLessThanOrEqualTo(1));
			}
			return waiters.stream().allMatch(CompletableFuture::isDone);
		});
		assertThat(waiting.provider().mostAttemptsAtOnce()).isEqualTo(1);
		assertThat(waiting.provider().attempts()).isLessThan(20 + (int) (waitTime.toMillis() / 10));
	}

	@Test
	default void threadWithAHandleWaitsLikeAnyOther() {
		LockTemplate locks = process().locks();
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(Duration.ofMillis(50));
		try (LockLease lease = locks.acquire(request)) {
			assertThat(locks.tryAcquire(request)).isNull();
			assertThat(lease.isHeld()).isTrue();
		}
		try (LockLease lease = locks.acquire(request)) {
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	default void uncontendedLockCostsTwoCommands() {
		ContractProcess process = process();
		process.locks().acquire(LockRequest.of(freshKey())).close();
		assertThat(process.provider().commands()).isEqualTo(2);
	}

}
