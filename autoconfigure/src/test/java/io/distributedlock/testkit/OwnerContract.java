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

/**
 * Part of the contract on owners: only the owner of a grant releases or renews it, and
 * only before it expires.
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
		LockGrant grant = holder.acquire(key);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		next.acquire(key);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(holder.isBusy(key)).isTrue();
	}

	@Test
	default void releaseAndRenewalByAnotherOwnerChangeNothing() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
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
		LockGrant grant = holder.acquire(freshKey());
		LockGrant elsewhere = new LockGrant(freshKey(), grant.owner(), grant.order(), grant.validity());
		assertThat(holder.release(elsewhere)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(holder.renew(elsewhere)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(holder.renew(grant)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	default void releaseOfAnExpiredGrantLeavesTheNextHolderAlone() {
		for (boolean sameProcess : new boolean[] { true, false }) {
			LockKey key = freshKey();
			ContractProcess first = process();
			ContractProcess second = sameProcess ? first : process();
			LockGrant stale = first.acquire(key);
			fixture().expire(key);
			LockGrant present = second.acquire(key);
			assertThat(first.release(stale)).isEqualTo(ReleaseOutcome.NOT_HELD);
			assertThat(first.renew(stale)).isEqualTo(RenewalOutcome.NOT_HELD);
			assertThat(process().isBusy(key)).isTrue();
			assertThat(second.renew(present)).isEqualTo(RenewalOutcome.RENEWED);
		}
	}

	@Test
	default void renewalDoesNotReviveAnExpiredOrReleasedGrant() {
		ContractProcess holder = process();
		LockKey expired = freshKey();
		LockGrant lapsed = holder.acquire(expired);
		fixture().expire(expired);
		assertThat(holder.renew(lapsed)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(holder.renew(lapsed)).isEqualTo(RenewalOutcome.NOT_HELD);
		LockKey freed = freshKey();
		LockGrant released = holder.acquire(freed);
		holder.release(released);
		assertThat(holder.renew(released)).isEqualTo(RenewalOutcome.NOT_HELD);
		ContractProcess next = process();
		next.acquire(expired);
		next.acquire(freed);
	}

	@Test
	default void renewalOfAnExpiredFreeGrantIsRefused() {
		inRounds(Duration.ofMillis(50), (leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			LockGrant grant = holder.acquire(key, leaseTime);
			TestThread.pass(leaseTime.multipliedBy(2));
			RenewalOutcome outcome = holder.renew(grant);
			// Where the process of the holder ends the lease, it may be late.
			if (fixture().supportsMinHold()) {
				Rounds.promise(() -> assertThat(outcome).isNotEqualTo(RenewalOutcome.RENEWED));
			}
			assertThat(outcome).isEqualTo(RenewalOutcome.NOT_HELD);
			process().acquire(key);
		});
	}

	@Test
	default void renewalExtendsTheGrantByTheGivenLease() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			ContractProcess other = process();
			LockGrant grant = holder.acquire(key, leaseTime);
			assertThat(holder.renew(grant, Duration.ofSeconds(20))).isEqualTo(RenewalOutcome.RENEWED);
			AttemptResult.Busy busy = ContractProcess.busy(other.attempt(key));
			if (fixture().reportsRemaining()) {
				assertThat(busy.holder().remaining()).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
			}
			else {
				ContractSupport.assertStays(leaseTime.multipliedBy(3).dividedBy(2), () -> other.isBusy(key));
			}
		});
	}

	@Test
	default void renewalBatchHasAnOutcomeForEachGrant() {
		ContractProcess holder = process();
		ContractProcess other = process();
		LockGrant held = holder.acquire(freshKey());
		LockGrant alsoHeld = holder.acquire(freshKey());
		LockGrant released = holder.acquire(freshKey());
		holder.release(released);
		LockGrant expired = holder.acquire(freshKey());
		fixture().expire(expired.key());
		LockGrant lost = holder.acquire(freshKey());
		fixture().expire(lost.key());
		LockGrant won = other.acquire(lost.key());
		LockGrant foreign = stranger(won);
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (LockGrant grant : new LockGrant[] { held, alsoHeld, released, expired, lost, foreign }) {
			leases.put(grant, ContractProcess.LEASE);
		}
		assertThat(holder.renew(leases)).containsOnly(Map.entry(held, RenewalOutcome.RENEWED),
				Map.entry(alsoHeld, RenewalOutcome.RENEWED), Map.entry(released, RenewalOutcome.NOT_HELD),
				Map.entry(expired, RenewalOutcome.NOT_HELD), Map.entry(lost, RenewalOutcome.NOT_HELD),
				Map.entry(foreign, RenewalOutcome.NOT_HELD));
		assertThat(other.renew(won)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	default void fiveHundredGrantsAreRenewedInOneCall() {
		ContractProcess holder = process();
		Map<LockGrant, Duration> leases = new HashMap<>();
		ContractSupport.inThreads(Collections.nCopies(500, holder), (process) -> process.acquire(freshKey()))
			.forEach((grant) -> leases.put(grant, ContractProcess.LEASE));
		Map<LockGrant, RenewalOutcome> outcomes = holder.renew(leases);
		assertThat(outcomes).hasSize(500).allSatisfy((grant, outcome) -> {
			assertThat(leases).containsKey(grant);
			assertThat(outcome).isEqualTo(RenewalOutcome.RENEWED);
		});
		ContractSupport.inThreads(List.copyOf(leases.keySet()), holder::release);
		assertStoreIsEmpty();
	}

	@Test
	default void emptyRenewalBatchHasNoOutcome() {
		assertThat(process().renew(Map.of())).isEmpty();
	}

}
