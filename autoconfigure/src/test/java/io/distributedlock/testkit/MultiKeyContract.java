package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockGrant;

import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.SHORT_WAIT;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on several keys: they are acquired all or none and lost together.
 */
interface MultiKeyContract extends ContractSupport {

	@Test
	default void allKeysAreHeldEachWithItsToken() {
		LockKey a = freshKey();
		LockKey b = freshKey();
		ContractProcess other = process();
		try (LockLease lease = process().locks().acquire(LockRequest.ofAll(List.of(b, a, b)))) {
			assertThat(lease.keys()).containsExactlyInAnyOrder(a, b).isSorted();
			assertThat(lease.fencingToken(a).value()).isPositive();
			assertThat(lease.fencingToken(b).value()).isPositive();
			assertThatIllegalStateException().isThrownBy(lease::fencingToken);
			assertThatIllegalArgumentException().isThrownBy(() -> lease.fencingToken(freshKey()));
			assertThat(other.isBusy(a)).isTrue();
			assertThat(other.isBusy(b)).isTrue();
		}
		assertStoreIsEmpty();
	}

	@Test
	default void oneBusyKeyLeavesTheOthersFreeWithinOneWaitTime() {
		inRounds(SHORT_WAIT, this::assertOneBusyKeyLeavesTheOthersFree);
	}

	private void assertOneBusyKeyLeavesTheOthersFree(Duration waitTime) {
		LockKey a = LockKey.of("contract", "multi", "a" + KeyNumbers.next());
		LockKey b = LockKey.of("contract", "multi", "b" + KeyNumbers.next());
		LockKey c = LockKey.of("contract", "multi", "c" + KeyNumbers.next());
		process().acquire(b);
		LockTemplate locks = process().locks();
		long start = System.nanoTime();
		Throwable thrown = catchThrowable(
				() -> locks.acquire(LockRequest.ofAll(List.of(c, b, a)).withWaitTime(waitTime)));
		Rounds.promise(() -> assertThat(thrown).as("granted beside its holder").isNotNull());
		assertThat(thrown).isInstanceOfSatisfying(LockNotAcquiredException.class,
				(ex) -> assertThat(ex.key()).isEqualTo(b));
		assertThat(ContractSupport.since(start)).isLessThan(waitTime.plus(TOLERANCE));
		ContractProcess other = process();
		await().atMost(PATIENCE).until(() -> !other.isBusy(a));
		assertThat(other.isBusy(c)).isFalse();
	}

	@Test
	default void oppositeOrdersDoNotDeadlock() throws Exception {
		LockKey a = freshKey();
		LockKey b = freshKey();
		List<TestThread<Void>> threads = new ArrayList<>();
		for (List<LockKey> keys : List.of(List.of(a, b), List.of(b, a))) {
			LockTemplate locks = process().locks();
			LockRequest request = LockRequest.ofAll(keys).withWaitTime(Duration.ofSeconds(20));
			threads.add(TestThread.start(() -> {
				for (int round = 0; round < 10; round++) {
					locks.acquire(request).close();
				}
				return null;
			}));
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		assertStoreIsEmpty();
	}

	@Test
	default void nestedBodyDoesNotStartAfterAJoinedLockWasLost() {
		withShortLease((leaseTime) -> {
			LockKey awaited = LockKey.of("contract", "multi", "b" + KeyNumbers.next());
			ContractProcess other = process();
			// Longer than all waits: nobody else releases it.
			LockGrant grant = other.acquire(awaited, LONG_LEASE);
			try {
				assertNestedBodyDoesNotStart(leaseTime, other, grant);
			}
			finally {
				other.release(grant);
			}
			await().atMost(PATIENCE).until(() -> !other.isBusy(awaited));
		});
	}

	private void assertNestedBodyDoesNotStart(Duration leaseTime, ContractProcess other, LockGrant awaited)
			throws Exception {
		LockKey joined = LockKey.of("contract", "multi", "a" + KeyNumbers.next());
		ContractProcess process = process();
		AtomicBoolean ran = new AtomicBoolean();
		AtomicReference<LockLease> outer = new AtomicReference<>();
		LockRequest both = LockRequest.ofAll(List.of(joined, awaited.key())).withWaitTime(PATIENCE.multipliedBy(2));
		TestThread<Void> nested = TestThread
			.start(() -> process.locks().execute(LockRequest.of(joined).withLease(leaseTime), (lease) -> {
				outer.set(lease);
				return process.locks().execute(both, (inner) -> {
					ran.set(true);
					return null;
				});
			}));
		await().atMost(PATIENCE).until(() -> process.provider().attempts() >= 2 || nested.isDone());
		assertThat(outer).doesNotHaveNullValue();
		fixture().expire(joined);
		ContractSupport.awaitLoss(outer.get());
		other.release(awaited);
		Throwable thrown = catchThrowable(nested::result);
		Rounds.promise(() -> assertThat(ran).as("ran after the loss").isFalse());
		assertThat(thrown).isInstanceOfSatisfying(LockLostException.class, (ex) -> {
			assertThat(ex.key()).isEqualTo(joined);
			assertThat(ex.error()).isEqualTo(LockError.REENTRY_AFTER_LOSS);
		});
	}

	@Test
	default void requestFailsWhenALockOfItsOwnIsLostMeanwhile() {
		withShortLease((leaseTime) -> {
			LockKey awaited = LockKey.of("contract", "multi", "b" + KeyNumbers.next());
			ContractProcess other = process();
			// Longer than all waits: nobody else releases it.
			LockGrant grant = other.acquire(awaited, LONG_LEASE);
			try {
				assertRequestFailsAfterALoss(leaseTime, other, grant);
			}
			finally {
				other.release(grant);
			}
			await().atMost(PATIENCE).until(() -> !other.isBusy(awaited));
		});
	}

	private void assertRequestFailsAfterALoss(Duration leaseTime, ContractProcess other, LockGrant awaited)
			throws Exception {
		LockKey lost = LockKey.of("contract", "multi", "a" + KeyNumbers.next());
		ContractProcess process = process();
		LockRecorder recorder = new LockRecorder();
		LockTemplate locks = process.locks(recorder);
		LockRequest both = LockRequest.ofAll(List.of(lost, awaited.key()))
			.withLease(leaseTime)
			.withWaitTime(PATIENCE.multipliedBy(2));
		AtomicBoolean ran = new AtomicBoolean();
		TestThread<Void> request = TestThread.start(() -> locks.execute(both, (lease) -> {
			ran.set(true);
			return null;
		}));
		await().atMost(PATIENCE).until(() -> process.provider().attempts() >= 2 || request.isDone());
		fixture().expire(lost);
		await().atMost(ContractSupport.patience(leaseTime))
			.until(() -> recorder.events().stream().anyMatch((event) -> event.startsWith("lost")));
		assertThat(recorder.events()).contains("lost NOT_HELD");
		other.release(awaited);
		Throwable thrown = catchThrowable(request::result);
		Rounds.promise(() -> assertThat(ran).as("ran after the loss").isFalse());
		assertThat(thrown).isInstanceOfSatisfying(LockLostException.class, (ex) -> {
			assertThat(ex.key()).isEqualTo(lost);
			assertThat(ex.error()).isEqualTo(LockError.LOST_WHILE_ACQUIRING);
		});
	}

	@Test
	default void oneLostKeyLosesTheLeaseAndFreesTheOthers() {
		withShortLease((leaseTime) -> {
			LockKey a = freshKey();
			LockKey b = freshKey();
			LockKey c = freshKey();
			ContractProcess other = process();
			ContractProcess third = process();
			LockTemplate locks = process().locks();
			LockLease lease = locks.acquire(LockRequest.ofAll(List.of(a, b, c)).withLease(leaseTime));
			fixture().expire(b);
			other.acquire(b, LONG_LEASE);
			ContractSupport.awaitLoss(lease);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
				.satisfies((ex) -> assertThat(ex.key()).isEqualTo(b));
			lease.close();
			boolean busy = third.isBusy(b);
			Rounds.promise(() -> assertThat(busy).as("still of the next holder").isTrue());
			assertThat(other.isBusy(a)).isFalse();
			assertThat(other.isBusy(c)).isFalse();
		});
	}

}
