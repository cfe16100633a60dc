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

	private LockGrant acquireReserved(ContractProcess process, LockKey key) {
		return ContractProcess.granted(process.attempt(key, OwnerId.random(), ContractProcess.LEASE, true));
	}

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
		ContractProcess holder = process();
		ContractProcess waiter = process();
		ContractProcess third = process();
		repeatUntilWithinGrace(() -> {
			LockKey key = freshKey();
			LockGrant grant = holder.acquire(key);
			waiter.enqueue(key);
			long released = System.nanoTime();
			assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.RELEASED);
			boolean releaserIsBusy = holder.isBusy(key);
			boolean thirdIsBusy = third.isBusy(key);
			if (ContractSupport.since(released).compareTo(GRACE) >= 0) {
				return false;
			}
			assertThat(releaserIsBusy).isTrue();
			assertThat(thirdIsBusy).isTrue();
			acquireReserved(waiter, key);
			return true;
		});
	}

	@Test
	default void deadQueuedProcessIsSkippedAfterTheGrace() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		process().enqueue(key);
		holder.release(grant);
		ContractProcess third = process();
		await().pollInterval(Duration.ofMillis(10))
			.atMost(fixture().pollBound().plus(GRACE).plus(TOLERANCE))
			.until(() -> !third.isBusy(key));
	}

	@Test
	default void deadQueuedProcessCostsOneGraceOnce() {
		ContractProcess holder = process();
		ContractProcess dead = process();
		ContractProcess second = process();
		ContractProcess third = process();
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		dead.enqueue(key);
		second.enqueue(key);
		holder.release(grant);
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
		acquireReserved(third, key);
	}

	@Test
	default void queuedProcessesAreGrantedInOrderOfArrival() {
		ContractProcess holder = process();
		List<ContractProcess> waiters = List.of(process(), process(), process());
		repeatUntilWithinGrace(() -> {
			LockKey key = freshKey();
			LockGrant grant = holder.acquire(key);
			waiters.forEach((waiter) -> waiter.enqueue(key));
			ContractProcess releaser = holder;
			for (int turn = 0; turn < waiters.size(); turn++) {
				long released = System.nanoTime();
				releaser.release(grant);
				boolean othersAreBusy = true;
				for (int later = waiters.size() - 1; later > turn; later--) {
					othersAreBusy &= waiters.get(later)
						.attempt(key, OwnerId.random(), ContractProcess.LEASE, true) instanceof AttemptResult.Busy;
				}
				if (ContractSupport.since(released).compareTo(GRACE) >= 0) {
					return false;
				}
				assertThat(othersAreBusy).isTrue();
				releaser = waiters.get(turn);
				grant = acquireReserved(releaser, key);
				for (int later = waiters.size() - 1; later > turn; later--) {
					waiters.get(later).enqueue(key);
				}
			}
			return true;
		});
	}

	@Test
	default void repeatedAttemptKeepsTheQueueEntry() {
		ContractProcess holder = process();
		ContractProcess first = process();
		ContractProcess second = process();
		repeatUntilWithinGrace(() -> {
			LockKey key = freshKey();
			LockGrant grant = holder.acquire(key);
			first.enqueue(key);
			second.enqueue(key);
			first.enqueue(key);
			second.enqueue(key);
			long released = System.nanoTime();
			holder.release(grant);
			boolean secondIsBusy = second.isBusy(key);
			if (ContractSupport.since(released).compareTo(GRACE) >= 0) {
				return false;
			}
			assertThat(secondIsBusy).isTrue();
			acquireReserved(first, key);
			return true;
		});
	}

	@Test
	default void grantRemovesTheQueueEntry() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		waiter.enqueue(key);
		holder.release(grant);
		waiter.release(acquireReserved(waiter, key));
		process().acquire(key);
	}

	@Test
	default void withdrawnReservationFreesTheKey() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		waiter.enqueue(key);
		holder.release(grant);
		assertThat(waiter.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		ContractProcess third = process();
		third.release(third.acquire(key));
		assertStoreIsEmpty();
	}

	@Test
	default void withdrawnReservationPassesToTheNextProcess() {
		ContractProcess holder = process();
		ContractProcess first = process();
		ContractProcess second = process();
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		first.enqueue(key);
		second.enqueue(key);
		holder.release(grant);
		assertThat(first.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		acquireReserved(second, key);
	}

	@Test
	default void withdrawalRemovesTheQueueEntry() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		waiter.enqueue(key);
		assertThat(waiter.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		holder.release(grant);
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
		LockKey key = freshKey();
		LockGrant grant = holder.acquire(key);
		holder.enqueue(key);
		holder.release(grant);
		process().acquire(key);
	}

	@Test
	default void expiredKeyIsGrantedToTheFirstAttempt() {
		LockKey key = freshKey();
		process().acquire(key);
		process().enqueue(key);
		fixture().expire(key);
		process().acquire(key);
	}

}
