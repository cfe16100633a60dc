package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

import static io.distributedlock.testkit.ContractConstants.GRACE;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on the wait queue: a release reserves the lock for the first
 * queued process for a short grace.
 */
interface ReservationContract extends ContractSupport {

	/** Repeats a round that a slow machine stretched beyond the grace. */
	private static void repeatUntilWithinGrace(BooleanSupplier round) {
		long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
		boolean quick = round.getAsBoolean();
		while (!quick && System.nanoTime() - end < 0) {
			quick = round.getAsBoolean();
		}
		assertThat(quick).as("a round ended within the grace").isTrue();
	}

	@Test
	default void releaseReservesTheLockForTheQueuedProcess() {
		if (!fixture().hasWaitQueue()) {
			return;
		}
		ContractProcess holder = process();
		ContractProcess waiter = process();
		ContractProcess third = process();
		repeatUntilWithinGrace(() -> {
			QueuedKey queued = QueuedKey.create(freshKey(), holder, waiter);
			long released = System.nanoTime();
			assertThat(queued.release()).isEqualTo(ReleaseOutcome.RELEASED);
			boolean releaserIsBusy = holder.isBusy(queued.key());
			boolean thirdIsBusy = third.isBusy(queued.key());
			AttemptResult attempt = queued.attempt(waiter);
			if (!queued.isWithinGrace(released)) {
				return false;
			}
			assertThat(releaserIsBusy).isTrue();
			assertThat(thirdIsBusy).isTrue();
			queued.grantedTo(waiter, attempt);
			return true;
		});
	}

	@Test
	default void deadQueuedProcessIsSkippedAfterTheGrace() {
		inTwoRounds(() -> {
			QueuedKey queued = QueuedKey.create(freshKey(), process(), process());
			queued.release();
			ContractProcess third = process();
			await().pollInterval(Duration.ofMillis(10))
				.atMost(fixture().pollBound().plus(GRACE).plus(TOLERANCE))
				.until(() -> !third.isBusy(queued.key()));
		});
	}

	@Test
	default void deadQueuedProcessCostsOneGraceOnce() {
		ContractProcess second = process();
		ContractProcess third = process();
		QueuedKey queued = QueuedKey.create(freshKey(), process(), process(), second);
		LockKey key = queued.key();
		queued.release();
		List<LockGrant> grants = new ArrayList<>();
		await().pollInterval(Duration.ofMillis(10)).atMost(PATIENCE).until(() -> {
			if (second.attempt(key, OwnerId.random(), ContractProcess.LEASE,
					true) instanceof AttemptResult.Granted granted) {
				grants.add(granted.grant());
			}
			return !grants.isEmpty();
		});
		third.enqueue(key);
		second.release(grants.get(0));
		queued.grantTo(third);
	}

	@Test
	default void queuedProcessesAreGrantedInOrderOfArrival() {
		if (!fixture().hasWaitQueue()) {
			return;
		}
		ContractProcess holder = process();
		ContractProcess[] waiters = { process(), process(), process() };
		repeatUntilWithinGrace(() -> {
			QueuedKey held = QueuedKey.create(freshKey(), holder, waiters);
			for (int turn = 0; turn < waiters.length; turn++) {
				long released = System.nanoTime();
				held.release();
				boolean othersAreBusy = true;
				for (int later = waiters.length - 1; later > turn; later--) {
					othersAreBusy &= held.attempt(waiters[later]) instanceof AttemptResult.Busy;
				}
				AttemptResult attempt = held.attempt(waiters[turn]);
				if (!held.isWithinGrace(released)) {
					return false;
				}
				assertThat(othersAreBusy).isTrue();
				held = held.grantedTo(waiters[turn], attempt);
				for (int later = waiters.length - 1; later > turn; later--) {
					waiters[later].enqueue(held.key());
				}
			}
			return true;
		});
	}

	@Test
	default void repeatedAttemptKeepsTheQueueEntry() {
		if (!fixture().hasWaitQueue()) {
			return;
		}
		ContractProcess holder = process();
		ContractProcess first = process();
		ContractProcess second = process();
		repeatUntilWithinGrace(() -> {
			QueuedKey queued = QueuedKey.create(freshKey(), holder, first, second, first, second);
			long released = System.nanoTime();
			queued.release();
			boolean secondIsBusy = second.isBusy(queued.key());
			AttemptResult attempt = queued.attempt(first);
			if (!queued.isWithinGrace(released)) {
				return false;
			}
			assertThat(secondIsBusy).isTrue();
			queued.grantedTo(first, attempt);
			return true;
		});
	}

	@Test
	default void grantRemovesTheQueueEntry() {
		ContractProcess waiter = process();
		QueuedKey queued = QueuedKey.create(freshKey(), process(), waiter);
		queued.release();
		queued.grantTo(waiter).release();
		process().acquire(queued.key());
	}

	@Test
	default void withdrawnReservationFreesTheKey() {
		ContractProcess waiter = process();
		QueuedKey queued = QueuedKey.create(freshKey(), process(), waiter);
		queued.release();
		assertThat(waiter.withdraw(queued.key())).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		assertKeyIsFree(queued.key());
	}

	@Test
	default void withdrawnReservationPassesToTheNextProcess() {
		ContractProcess first = process();
		ContractProcess second = process();
		QueuedKey queued = QueuedKey.create(freshKey(), process(), first, second);
		queued.release();
		assertThat(first.withdraw(queued.key())).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		queued.grantTo(second);
	}

	@Test
	default void withdrawalRemovesTheQueueEntry() {
		ContractProcess waiter = process();
		QueuedKey queued = QueuedKey.create(freshKey(), process(), waiter);
		assertThat(waiter.withdraw(queued.key())).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		queued.release();
		assertKeyIsFree(queued.key());
	}

	private void assertKeyIsFree(LockKey key) {
		ContractProcess third = process();
		third.release(third.acquire(key));
		assertStoreIsEmpty();
	}

	@Test
	default void withdrawalWithoutEntryChangesNothing() {
		ContractProcess holder = process();
		ContractProcess other = process();
		LockKey key = freshKey();
		holder.acquire(key);
		assertThat(holder.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(other.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(other.isBusy(key)).isTrue();
	}

	@Test
	default void attemptWithoutWaitLeavesNoQueueEntry() {
		ContractProcess holder = process();
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		assertThat(process().isBusy(key)).isTrue();
		holder.release(grant);
		process().acquire(key);
	}

	@Test
	default void releaseDoesNotReserveForItsOwnProcess() {
		ContractProcess holder = process();
		QueuedKey queued = QueuedKey.create(freshKey(), holder, holder);
		queued.release();
		process().acquire(queued.key());
	}

	@Test
	default void expiredKeyIsGrantedToTheFirstAttempt() {
		LockKey key = QueuedKey.create(freshKey(), process(), process()).key();
		fixture().expire(key);
		process().acquire(key);
	}

}
