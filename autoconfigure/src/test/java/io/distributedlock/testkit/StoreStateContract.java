package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.CommandLog.Kind;
import io.distributedlock.testkit.StoreFaults.Command;
import io.distributedlock.testkit.StoreFaults.Fault;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the fault contract on the store's data: a locked, refused or late entry affects
 * no other lock.
 */
interface StoreStateContract extends FaultSupport {

	@Test
	default void lockedEntryDoesNotPreventOtherRenewals() {
		inRounds(TimeBounds.withLoad(2000), this::assertOthersAreRenewedBesideALockedEntry);
	}

	private void assertOthersAreRenewedBesideALockedEntry(Duration leaseTime) {
		FaultyProcess process = process(proxy());
		List<LockKey> keys = new ArrayList<>();
		List<LockLease> leases = new ArrayList<>();
		for (int number = 0; number < 5; number++) {
			LockKey key = freshKey();
			keys.add(key);
			leases.add(FaultSupport.acquired(process.locks(), LockRequest.of(key).withLease(leaseTime)));
		}
		try (Fault fault = faults().lockEntry(keys.get(2))) {
			await().atMost(leaseTime)
				.until(() -> process.log()
					.outcomes(Kind.RENEWAL)
					.stream()
					.anyMatch((outcomes) -> outcomes instanceof Map<?, ?> map
							&& map.containsValue(RenewalOutcome.UNKNOWN)));
		}
		await().during(leaseTime)
			.atMost(leaseTime.plus(PATIENCE))
			.until(() -> leases.stream().allMatch(LockLease::isHeld));
		leases.forEach(LockLease::close);
		assertStoreIsEmpty();
	}

	@Test
	default void entryThatStaysLockedIsLostAlone() {
		inRounds(TimeBounds.withLoad(1500), this::assertLockedEntryIsLostAlone);
	}

	private void assertLockedEntryIsLostAlone(Duration leaseTime) {
		FaultyProcess process = process(proxy());
		LockKey key = freshKey();
		LockLease locked = FaultSupport.acquired(process.locks(), LockRequest.of(key).withLease(leaseTime));
		LockLease other = FaultSupport.acquired(process.locks(), LockRequest.of(freshKey()).withLease(leaseTime));
		try (Fault fault = faults().lockEntry(key)) {
			await().atMost(leaseTime.plus(TOLERANCE)).until(() -> !locked.isHeld());
			await().during(leaseTime).atMost(leaseTime.plus(PATIENCE)).until(other::isHeld);
		}
		locked.close();
		other.close();
		assertStoreIsEmpty();
	}

	@Test
	default void entryThatTheStoreRefusesToRenewIsLostAlone() {
		inRounds(TimeBounds.withLoad(1500), this::assertRefusedEntryIsLostAlone);
	}

	private void assertRefusedEntryIsLostAlone(Duration leaseTime) {
		FaultyProcess process = process(proxy());
		List<LockLease> others = new ArrayList<>();
		LockKey key = freshKey();
		LockLease refused = FaultSupport.acquired(process.locks(), LockRequest.of(key).withLease(leaseTime));
		for (int number = 0; number < 5; number++) {
			others.add(FaultSupport.acquired(process.locks(), LockRequest.of(freshKey()).withLease(leaseTime)));
		}
		try (Fault fault = faults().refuseWrites(key)) {
			assertThat(others).as("held when the fault began").allMatch(LockLease::isHeld);
			await().atMost(leaseTime.multipliedBy(2).plus(TOLERANCE)).until(() -> !refused.isHeld());
			await().during(leaseTime)
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(others).as("renewals: %s", process.log().outcomes(Kind.RENEWAL))
					.allMatch(LockLease::isHeld));
		}
		refused.close();
		others.forEach(LockLease::close);
		assertStoreIsEmpty();
	}

	@Test
	default void waiterAcquiresAnExpiredLockWithinOnePoll() {
		inTwoRounds(this::assertExpiredLockIsAcquiredWithinOnePoll);
	}

	private void assertExpiredLockIsAcquiredWithinOnePoll() throws Exception {
		LockKey key = freshKey();
		process().acquire(key, LONG_LEASE);
		ContractProcess waiting = process();
		TestThread<Long> waiter = TestThread.start(() -> {
			try (LockLease lease = FaultSupport.acquired(waiting.locks(), LockRequest.of(key).withWaitTime(PATIENCE))) {
				lease.ensureHeld();
				return System.nanoTime();
			}
		});
		await().until(() -> waiting.provider().attempts() > 2 && waiter.isWaiting());
		fixture().expire(key);
		long expired = System.nanoTime();
		assertThat(Duration.ofNanos(waiter.result() - expired))
			.isLessThanOrEqualTo(fixture().pollBound().plus(TOLERANCE));
	}

	@Test
	@WholeStore
	default void ordersRiseWhenTheLastOneIsAnHourAhead() {
		LockKey key = freshKey();
		List<ContractProcess> processes = List.of(process(), process());
		LockGrant first = processes.get(0).acquire(key);
		processes.get(0).release(first);
		faults().advanceOrder(key, Duration.ofHours(1));
		long last = first.order() + Duration.ofHours(1).toNanos() / 1000;
		for (int round = 0; round < 6; round++) {
			ContractProcess holder = processes.get(round % 2);
			LockGrant grant = holder.acquire(key);
			// A store may use some orders for other operations.
			assertThat(grant.order()).isGreaterThan(last).isLessThan(last + 10_000);
			last = grant.order();
			if (round % 2 == 0) {
				fixture().expire(key);
			}
			else {
				holder.release(grant);
			}
		}
	}

	@Test
	default void unreachableFirstWaiterIsSkippedAfterTheGrace() {
		inTwoRounds(this::assertUnreachableWaiterIsSkipped);
	}

	private void assertUnreachableWaiterIsSkipped() throws Exception {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		TcpProxy proxy = proxy();
		FaultyProcess first = process(proxy);
		TestThread<LockLease> unreachable = FaultSupport.startWaiter(first.process(),
				LockRequest.of(key).withWaitTime(PATIENCE), 1);
		ContractProcess second = process();
		TestThread<Long> waiter = TestThread.start(() -> {
			try (LockLease lease = FaultSupport.acquired(second.locks(), LockRequest.of(key).withWaitTime(PATIENCE))) {
				lease.ensureHeld();
				return System.nanoTime();
			}
		});
		await().until(() -> first.process().provider().attempts() > 2 && second.provider().attempts() > 2);
		try (WireFault silence = proxy.blackHole()) {
			await().until(() -> silence.hits() > 0);
			holder.release(grant);
			long released = System.nanoTime();
			assertThat(Duration.ofNanos(waiter.result() - released))
				.isLessThanOrEqualTo(fixture().pollBound().multipliedBy(2).plus(TOLERANCE));
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(unreachable::result);
		}
		assertStoreIsEmpty();
		// An attempt that was on its way may still arrive; its release follows.
		FaultSupport.acquired(process().locks(), LockRequest.of(key).withWaitTime(PATIENCE)).close();
	}

	@Test
	default void grantThatArrivesAfterItsLeaseIsReleased() {
		inTwoRounds(() -> {
			LockKey key = freshKey();
			TcpProxy proxy = proxy();
			FaultyProcess process = process(proxy);
			proxy.onReplyTo(faults().packet(Command.ACQUIRE, key), Effect.DELAY).by(Duration.ofMillis(700)).once();
			FaultSupport.assertStoreFails(Duration.ZERO, () -> process.locks()
				.acquire(LockRequest.of(key).withWaitTime(Duration.ZERO).withLease(Duration.ofMillis(500))));
			Rounds.promise(() -> assertThat(process.log().outcomes(Kind.RENEWAL)).isEmpty());
			assertStoreIsEmpty();
		});
	}

}
