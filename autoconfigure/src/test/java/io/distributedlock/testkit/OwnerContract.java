package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Only the owner of a grant frees or prolongs it, and only while it lasts.
 */
interface OwnerContract extends ContractSupport {

	private static LockGrant stranger(LockGrant grant) {
		return new LockGrant(grant.key(), OwnerId.random(), grant.order(), grant.validity());
	}

	@Test
	default void releaseFreesTheKeyOnce() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess next = process();
		LockGrant grant = holder.take(key);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		next.take(key);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(holder.isBusy(key)).isTrue();
	}

	@Test
	default void releaseAndRenewalByAnotherOwnerChangeNothing() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.take(key);
		for (ContractProcess process : new ContractProcess[] { holder, process() }) {
			assertThat(process.release(stranger(grant))).isEqualTo(ReleaseOutcome.NOT_HELD);
			assertThat(process.renew(stranger(grant), Duration.ofHours(1))).isEqualTo(RenewalOutcome.NOT_HELD);
			assertThat(process.isBusy(key)).isTrue();
		}
		assertThat(holder.renew(grant)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	default void releaseAndRenewalOfOneKeyLeaveAnotherAlone() {
		ContractProcess holder = process();
		LockGrant grant = holder.take(freshKey());
		LockGrant elsewhere = new LockGrant(freshKey(), grant.owner(), grant.order(), grant.validity());
		assertThat(holder.release(elsewhere)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(holder.renew(elsewhere)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(holder.renew(grant)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	default void releaseOfAnExpiredTenureLeavesTheNextHolderAlone() {
		for (boolean sameProcess : new boolean[] { true, false }) {
			LockKey key = freshKey();
			ContractProcess first = process();
			ContractProcess second = sameProcess ? first : process();
			LockGrant stale = first.take(key);
			fixture().expire(key);
			LockGrant present = second.take(key);
			assertThat(first.release(stale)).isEqualTo(ReleaseOutcome.NOT_HELD);
			assertThat(first.renew(stale)).isEqualTo(RenewalOutcome.NOT_HELD);
			assertThat(process().isBusy(key)).isTrue();
			assertThat(second.renew(present)).isEqualTo(RenewalOutcome.RENEWED);
		}
	}

	@Test
	default void renewalOfAnExpiredOrReleasedTenureRevivesNothing() {
		ContractProcess holder = process();
		LockKey expired = freshKey();
		LockGrant lapsed = holder.take(expired);
		fixture().expire(expired);
		assertThat(holder.renew(lapsed)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(holder.renew(lapsed)).isEqualTo(RenewalOutcome.NOT_HELD);
		LockKey freed = freshKey();
		LockGrant released = holder.take(freed);
		holder.release(released);
		assertThat(holder.renew(released)).isEqualTo(RenewalOutcome.NOT_HELD);
		ContractProcess next = process();
		next.take(expired);
		next.take(freed);
	}

	@Test
	default void renewalOfALapsedTenureThatNobodyTookIsRefused() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		Duration lease = Duration.ofMillis(50);
		LockGrant grant = holder.take(key, lease);
		TestThread.pass(lease.plusMillis(50));
		assertThat(holder.renew(grant)).isEqualTo(RenewalOutcome.NOT_HELD);
		process().take(key);
	}

	@Test
	default void renewalMakesTheTenureLastTheGivenTimeFromNowOn() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess other = process();
		Duration lease = Duration.ofSeconds(1);
		LockGrant grant = holder.take(key, lease);
		assertThat(holder.renew(grant, Duration.ofSeconds(20))).isEqualTo(RenewalOutcome.RENEWED);
		AttemptResult.Busy busy = ContractProcess.busy(other.attempt(key));
		if (fixture().tellsRemaining()) {
			assertThat(busy.holder().remaining()).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
		}
		else {
			await().during(lease.plusMillis(500)).atMost(PATIENCE).until(() -> other.isBusy(key));
		}
	}

	@Test
	default void batchOfRenewalsHasAnOutcomeForEach() {
		ContractProcess holder = process();
		ContractProcess other = process();
		LockGrant held = holder.take(freshKey());
		LockGrant alsoHeld = holder.take(freshKey());
		LockGrant released = holder.take(freshKey());
		holder.release(released);
		LockGrant expired = holder.take(freshKey());
		fixture().expire(expired.key());
		LockGrant lost = holder.take(freshKey());
		fixture().expire(lost.key());
		LockGrant won = other.take(lost.key());
		LockGrant foreign = stranger(won);
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (LockGrant grant : new LockGrant[] { held, alsoHeld, released, expired, lost, foreign }) {
			leases.put(grant, ContractProcess.LEASE);
		}
		assertThat(holder.provider().renew(leases, ContractProcess.TIMEOUT)).containsOnly(
				Map.entry(held, RenewalOutcome.RENEWED), Map.entry(alsoHeld, RenewalOutcome.RENEWED),
				Map.entry(released, RenewalOutcome.NOT_HELD), Map.entry(expired, RenewalOutcome.NOT_HELD),
				Map.entry(lost, RenewalOutcome.NOT_HELD), Map.entry(foreign, RenewalOutcome.NOT_HELD));
		assertThat(other.renew(won)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	default void fiveHundredTenuresAreRenewedInOneCall() {
		ContractProcess holder = process();
		Map<LockGrant, Duration> leases = new HashMap<>();
		ContractSupport.inThreads(Collections.nCopies(500, holder), (process) -> process.take(freshKey()))
			.forEach((grant) -> leases.put(grant, ContractProcess.LEASE));
		Map<LockGrant, RenewalOutcome> outcomes = holder.provider().renew(leases, ContractProcess.TIMEOUT);
		assertThat(outcomes).hasSize(500).allSatisfy((grant, outcome) -> {
			assertThat(leases).containsKey(grant);
			assertThat(outcome).isEqualTo(RenewalOutcome.RENEWED);
		});
		ContractSupport.inThreads(List.copyOf(leases.keySet()), holder::release);
		assertNothingIsLeft();
	}

	@Test
	default void emptyBatchIsRenewedWithoutOutcome() {
		assertThat(process().provider().renew(Map.of(), ContractProcess.TIMEOUT)).isEmpty();
	}

}
