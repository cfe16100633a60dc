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

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A release reserves the lock for the process that waits longest, for a short grace.
 */
interface ReservationContract extends ContractSupport {

	/** The shortest grace of any store. */
	Duration GRACE = Duration.ofMillis(100);

	private LockGrant takeReserved(ContractProcess process, LockKey key) {
		return ContractProcess.granted(process.attempt(key, OwnerId.random(), ContractProcess.LEASE, true));
	}

	/** A round that a slow machine stretched beyond the grace shows nothing. */
	private static void untilQuickEnough(BooleanSupplier round) {
		long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
		boolean quick = round.getAsBoolean();
		while (!quick && System.nanoTime() - end < 0) {
			quick = round.getAsBoolean();
		}
		assertThat(quick).as("a round ended within the grace").isTrue();
	}

	@Test
	default void releaseReservesForTheWaitingProcessAndNobodyElseGetsIt() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		ContractProcess third = process();
		untilQuickEnough(() -> {
			LockKey key = freshKey();
			LockGrant grant = holder.take(key);
			waiter.standInLine(key);
			long released = System.nanoTime();
			assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.RELEASED);
			boolean releaserIsBusy = holder.isBusy(key);
			boolean thirdIsBusy = third.isBusy(key);
			if (ContractSupport.since(released).compareTo(GRACE) >= 0) {
				return false;
			}
			assertThat(releaserIsBusy).isTrue();
			assertThat(thirdIsBusy).isTrue();
			takeReserved(waiter, key);
			return true;
		});
	}

	@Test
	default void deadProcessIsPassedOverAfterTheGrace() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.take(key);
		process().standInLine(key);
		holder.release(grant);
		ContractProcess third = process();
		await().pollInterval(Duration.ofMillis(10))
			.atMost(fixture().pollBound().plus(GRACE).plus(TOLERANCE))
			.until(() -> !third.isBusy(key));
	}

	@Test
	default void deadProcessCostsOneGraceOnce() {
		ContractProcess holder = process();
		ContractProcess dead = process();
		ContractProcess second = process();
		ContractProcess third = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		dead.standInLine(key);
		second.standInLine(key);
		holder.release(grant);
		List<LockGrant> grants = new ArrayList<>();
		await().pollInterval(Duration.ofMillis(10)).atMost(PATIENCE).until(() -> {
			if (second.attempt(key, OwnerId.random(), ContractProcess.LEASE,
					true) instanceof AttemptResult.Granted granted) {
				grants.add(granted.grant());
			}
			return !grants.isEmpty();
		});
		third.standInLine(key);
		second.release(grants.get(0));
		takeReserved(third, key);
	}

	@Test
	default void waitingProcessesAreServedInOrderOfArrival() {
		ContractProcess holder = process();
		List<ContractProcess> waiters = List.of(process(), process(), process());
		untilQuickEnough(() -> {
			LockKey key = freshKey();
			LockGrant grant = holder.take(key);
			waiters.forEach((waiter) -> waiter.standInLine(key));
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
				grant = takeReserved(releaser, key);
				for (int later = waiters.size() - 1; later > turn; later--) {
					waiters.get(later).standInLine(key);
				}
			}
			return true;
		});
	}

	@Test
	default void askingAgainKeepsThePlace() {
		ContractProcess holder = process();
		ContractProcess first = process();
		ContractProcess second = process();
		untilQuickEnough(() -> {
			LockKey key = freshKey();
			LockGrant grant = holder.take(key);
			first.standInLine(key);
			second.standInLine(key);
			first.standInLine(key);
			second.standInLine(key);
			long released = System.nanoTime();
			holder.release(grant);
			boolean secondIsBusy = second.isBusy(key);
			if (ContractSupport.since(released).compareTo(GRACE) >= 0) {
				return false;
			}
			assertThat(secondIsBusy).isTrue();
			takeReserved(first, key);
			return true;
		});
	}

	@Test
	default void grantUsesThePlaceUp() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		waiter.standInLine(key);
		holder.release(grant);
		waiter.release(takeReserved(waiter, key));
		process().take(key);
	}

	@Test
	default void withdrawalOfAReservationFreesTheKey() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		waiter.standInLine(key);
		holder.release(grant);
		assertThat(waiter.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		ContractProcess third = process();
		third.release(third.take(key));
		assertNothingIsLeft();
	}

	@Test
	default void withdrawalOfAReservationLetsTheNextOneHaveIt() {
		ContractProcess holder = process();
		ContractProcess first = process();
		ContractProcess second = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		first.standInLine(key);
		second.standInLine(key);
		holder.release(grant);
		assertThat(first.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		takeReserved(second, key);
	}

	@Test
	default void withdrawalGivesThePlaceUp() {
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		waiter.standInLine(key);
		assertThat(waiter.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		holder.release(grant);
		ContractProcess third = process();
		third.release(third.take(key));
		assertNothingIsLeft();
	}

	@Test
	default void withdrawalWithoutAPlaceTouchesNobody() {
		ContractProcess holder = process();
		ContractProcess other = process();
		LockKey key = freshKey();
		holder.take(key);
		assertThat(holder.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(other.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		assertThat(other.isBusy(key)).isTrue();
	}

	@Test
	default void attemptThatWillNotWaitTakesNoPlace() {
		ContractProcess holder = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		assertThat(process().isBusy(key)).isTrue();
		holder.release(grant);
		process().take(key);
	}

	@Test
	default void releaseDoesNotReserveForItsOwnProcess() {
		ContractProcess holder = process();
		LockKey key = freshKey();
		LockGrant grant = holder.take(key);
		holder.standInLine(key);
		holder.release(grant);
		process().take(key);
	}

	@Test
	default void expiredKeyIsForWhoeverComesFirst() {
		LockKey key = freshKey();
		process().take(key);
		process().standInLine(key);
		fixture().expire(key);
		process().take(key);
	}

}
