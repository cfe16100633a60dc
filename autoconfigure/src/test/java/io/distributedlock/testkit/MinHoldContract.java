package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on the shortest hold: within it a key is granted once, also when
 * it is released before or its holder dies, and nobody can end or prolong it. A store
 * that cannot keep a released key refuses such requests.
 */
interface MinHoldContract extends ContractSupport {

	/** Longer than any test waits, and so never over. */
	private static Duration never() {
		return Duration.ofMinutes(10);
	}

	private static Duration brief() {
		return Duration.ofMillis(150);
	}

	@Test
	default void minHoldIsRefusedWhereTheStoreCannotKeepKeys() {
		ContractProcess process = process();
		assertThat(process.provider().supportsMinHold()).isEqualTo(fixture().supportsMinHold());
		if (fixture().supportsMinHold()) {
			return;
		}
		LockRequest request = LockRequest.of(freshKey()).withMinHold(brief());
		for (LockRequest refused : List.of(request, request.withKeys(List.of(freshKey(), freshKey())))) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> process.locks().tryAcquire(refused))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.MIN_HOLD_UNSUPPORTED));
			assertThat(process.locks().acquireAsync(refused)).isCompletedExceptionally();
		}
		assertStoreIsEmpty();
	}

	@Test
	default void keptKeyIsNobodysUntilItsTimeHasPassed() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		assertThat(holder.release(grant, never())).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(holder.renew(grant)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(holder.release(grant, brief())).isEqualTo(ReleaseOutcome.NOT_HELD);
		for (ContractProcess process : List.of(holder, process())) {
			assertThat(process.attempt(key, grant.owner(), ContractProcess.LEASE, false))
				.isInstanceOf(AttemptResult.Busy.class);
			assertThat(process.isBusy(key)).isTrue();
			process.enqueue(key);
			process.withdraw(key);
			assertThat(process.isBusy(key)).isTrue();
		}
	}

	@Test
	default void keptKeyIsFreeWhenItsTimeHasPassed() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		long before = System.nanoTime();
		assertThat(holder.release(grant, brief())).isEqualTo(ReleaseOutcome.RELEASED);
		ContractProcess next = process();
		await().atMost(PATIENCE).until(() -> !next.isBusy(key));
		assertThat(ContractSupport.since(before)).isGreaterThanOrEqualTo(brief());
		assertThat(holder.renew(grant)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(process().isBusy(key)).isTrue();
	}

	@Test
	default void releaseThatKeepsShortensALongerLease() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key, never());
		assertThat(holder.release(grant, brief())).isEqualTo(ReleaseOutcome.RELEASED);
		ContractProcess next = process();
		await().atMost(PATIENCE).until(() -> !next.isBusy(key));
	}

	@Test
	default void ordersRiseOverAKeptKey() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		long last = 0;
		for (int i = 0; i < 3; i++) {
			ContractProcess next = (i % 2 == 0) ? holder : process();
			try (LockLease lease = next.locks()
				.acquire(LockRequest.of(key).withMinHold(Duration.ofMillis(20)).withWaitTime(PATIENCE))) {
				assertThat(lease.fencingToken().value()).isGreaterThan(last);
				last = lease.fencingToken().value();
			}
		}
	}

	@Test
	default void busyAnswerSaysHowLongTheKeyIsKept() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess other = process();
		holder.release(holder.acquire(key), never());
		AttemptResult.Busy busy = ContractProcess.busy(other.attempt(key));
		assertThat(busy.retryAfter()).isLessThanOrEqualTo(never());
		assertThat(busy.holder().released()).isTrue();
		assertThat(busy.holder().remaining()).isBetween(never().dividedBy(2), never());
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> other.locks().acquire(LockRequest.of(key).withWaitTime(Duration.ZERO)))
			.withMessageContaining("minHold");
	}

	@Test
	default void oneStartWithinTheShortestHold() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess first = process();
		LockRequest request = LockRequest.of(key).withWaitTime(Duration.ZERO).withMinHold(never());
		first.locks().acquire(request).close();
		for (ContractProcess process : List.of(first, process())) {
			assertThat(process.locks().tryAcquire(request)).isNull();
			assertThat(process.locks().tryAcquire(request.withMinHold(null))).isNull();
			assertThat(process.locks().acquireAsync(request)).failsWithin(PATIENCE);
		}
	}

	@Test
	default void waitersAreGrantedOneAfterTheOtherAfterTheShortestHold() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		LockRequest request = LockRequest.of(key).withWaitTime(PATIENCE).withMinHold(brief());
		ContractProcess first = process();
		List<ContractProcess> processes = List.of(first, first, process(), process());
		Set<Long> orders = ConcurrentHashMap.newKeySet();
		// What is slow the first time would hide a hold that is too short.
		processes.forEach((process) -> process.locks().acquire(LockRequest.of(freshKey())).close());
		long start = System.nanoTime();
		List<Duration> grants = ContractSupport.inThreads(processes, (process) -> {
			try (LockLease lease = process.locks().acquire(request)) {
				Duration granted = ContractSupport.since(start);
				orders.add(lease.fencingToken().order());
				return granted;
			}
		});
		// A store that counts whole milliseconds may lose one with each hold.
		assertThat(Collections.max(grants)).isGreaterThanOrEqualTo(brief().multipliedBy(3).minusMillis(3));
		// Two requests of one process have a grant each, too.
		assertThat(orders).hasSize(4);
	}

	@Test
	default void holdThatLastsLongerIsReleasedAtOnce() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockLease lease = holder.locks().acquire(LockRequest.of(key).withMinHold(Duration.ofMillis(50)));
		TestThread.pass(Duration.ofMillis(60));
		lease.close();
		assertThat(process().isBusy(key)).isFalse();
	}

	@Test
	default void deadHoldersKeyIsKeptForTheShortestHold() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		inRounds(Duration.ofMillis(100), (leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			ContractProcess other = process();
			// Not renewed, as by a process that was killed.
			LockLease lost = holder.locks()
				.acquire(LockRequest.of(key).withLease(leaseTime).withoutRenewal().withMinHold(never()));
			await().atMost(ContractSupport.patience(leaseTime)).until(() -> !lost.isHeld());
			TestThread.pass(leaseTime);
			assertIsKept(other, key);
			lost.close();
			assertIsKept(other, key);
		});
	}

	private static void assertIsKept(ContractProcess other, LockKey key) {
		boolean busy = other.isBusy(key);
		Rounds.promise(() -> assertThat(busy).as("kept for the shortest hold").isTrue());
	}

	@Test
	default void renewalsNeverShortenTheShortestHold() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess holder = process();
			ContractProcess other = process();
			LockLease lease = holder.locks().acquire(LockRequest.of(key).withLease(leaseTime).withMinHold(never()));
			await().atMost(ContractSupport.patience(leaseTime))
				.until(() -> holder.provider().renewals() > 1 || !lease.isHeld());
			AttemptResult attempt = other.attempt(key);
			Rounds.promise(() -> assertThat(attempt).isInstanceOf(AttemptResult.Busy.class));
			AttemptResult.Busy busy = ContractProcess.busy(attempt);
			if (fixture().reportsRemaining()) {
				Rounds.promise(() -> assertThat(busy.holder().remaining()).isGreaterThan(never().dividedBy(2)));
			}
			assertThat(lease.isHeld()).isTrue();
			assertThat(busy.holder().released()).isFalse();
		});
	}

	@Test
	default void eachOfSeveralKeysIsKept() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey one = freshKey();
		LockKey two = freshKey();
		ContractProcess holder = process();
		holder.locks().acquire(LockRequest.ofAll(List.of(one, two)).withMinHold(never())).close();
		ContractProcess other = process();
		assertThat(other.isBusy(one)).isTrue();
		assertThat(other.isBusy(two)).isTrue();
	}

	@Test
	default void requestForSeveralKeysThatFailsKeepsNone() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		LockKey one = freshKey();
		LockKey two = freshKey();
		ContractProcess holder = process();
		LockKey first = (one.compareTo(two) < 0) ? one : two;
		LockKey last = first.equals(one) ? two : one;
		holder.acquire(last);
		ContractProcess other = process();
		assertThat(other.locks()
			.tryAcquire(LockRequest.ofAll(List.of(one, two)).withMinHold(never()).withWaitTime(Duration.ZERO)))
			.isNull();
		await().atMost(PATIENCE).until(() -> !holder.isBusy(first));
	}

	@Test
	default void keptKeyLeavesNothingBehind() {
		if (!fixture().supportsMinHold()) {
			return;
		}
		ContractProcess holder = process();
		LockKey key = freshKey();
		holder.release(holder.acquire(key), Duration.ofMillis(50));
		process().locks().acquire(LockRequest.of(key).withWaitTime(PATIENCE)).close();
		assertStoreIsEmpty();
	}

}
