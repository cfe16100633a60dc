package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static io.distributedlock.testkit.ContractConstants.LONG_WAIT;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on shares: they are granted beside each other, permits up to their
 * limit, and never beside an exclusive grant. A store without shares refuses them.
 */
interface SharedContract extends ContractSupport {

	private boolean supports(LockMode mode) {
		return fixture().hasShares() && process().provider().supports(mode);
	}

	private static int unlimited() {
		return Integer.MAX_VALUE;
	}

	@Test
	default void sharesAreGrantedBesideEachOther() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess reader = process();
		ContractProcess other = process();
		for (ContractProcess process : List.of(reader, reader, other)) {
			LockGrant share = process.acquireShare(key, unlimited());
			assertThat(share.owner().isShare()).isTrue();
			assertThat(process.renew(share)).isEqualTo(RenewalOutcome.RENEWED);
		}
	}

	@Test
	default void sharesAndExclusiveGrantsExcludeEachOther() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		ContractProcess reader = process();
		for (ContractProcess writer : List.of(reader, process())) {
			LockKey key = freshKey();
			LockGrant share = reader.acquireShare(key, unlimited());
			assertThat(writer.isBusy(key)).isTrue();
			assertThat(reader.release(share)).isEqualTo(ReleaseOutcome.RELEASED);
			LockGrant exclusive = writer.acquire(key);
			assertThat(reader.isShareBusy(key, unlimited())).isTrue();
			assertThat(writer.release(exclusive)).isEqualTo(ReleaseOutcome.RELEASED);
			reader.acquireShare(key, unlimited());
		}
	}

	@Test
	default void releaseOfAShareLeavesTheOthers() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess first = process();
		ContractProcess second = process();
		LockGrant one = first.acquireShare(key, unlimited());
		LockGrant other = second.acquireShare(key, unlimited());
		assertThat(first.release(one)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(first.release(one)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(first.renew(one)).isEqualTo(RenewalOutcome.NOT_HELD);
		assertThat(first.isBusy(key)).isTrue();
		assertThat(second.renew(other)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(second.release(other)).isEqualTo(ReleaseOutcome.RELEASED);
		process().acquire(key);
	}

	@Test
	default void releasedSharesLeaveNoEntry() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess reader = process();
		LockGrant one = reader.acquireShare(key, unlimited());
		LockGrant other = reader.acquireShare(key, unlimited());
		reader.release(one);
		reader.release(other);
		assertStoreIsEmpty();
	}

	@Test
	default void shareOfAnotherOwnerIsNeitherReleasedNorRenewed() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess reader = process();
		LockGrant share = reader.acquireShare(key, unlimited());
		for (boolean asShare : new boolean[] { true, false }) {
			LockGrant stranger = new LockGrant(key, OwnerId.random().ofShare(asShare), share.order(), share.validity());
			assertThat(reader.release(stranger)).isEqualTo(ReleaseOutcome.NOT_HELD);
			assertThat(reader.renew(stranger)).isEqualTo(RenewalOutcome.NOT_HELD);
		}
		assertThat(process().isBusy(key)).isTrue();
		assertThat(reader.renew(share)).isEqualTo(RenewalOutcome.RENEWED);
	}

	@Test
	default void repeatedAttemptOfAShareReturnsItsOwnGrant() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess reader = process();
		OwnerId owner = OwnerId.random().ofShare(true);
		LockGrant first = ContractProcess
			.granted(reader.attemptShare(key, unlimited(), owner, ContractProcess.LEASE, true));
		LockGrant again = ContractProcess
			.granted(reader.attemptShare(key, unlimited(), owner, ContractProcess.LEASE, true));
		assertThat(again.owner()).isEqualTo(first.owner());
		assertThat(reader.release(again)).isEqualTo(ReleaseOutcome.RELEASED);
		process().acquire(key);
	}

	@Test
	default void shareWithoutAnAnswerIsReleasedByItsOwnerId() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess reader = process();
		OwnerId owner = OwnerId.random().ofShare(true);
		reader.attemptShare(key, unlimited(), owner, ContractProcess.LEASE, true);
		ReleaseOutcome outcome = StoreCalls.outcomeOf(
				reader.provider().release(key, owner, Duration.ZERO, ContractProcess.TIMEOUT), ContractProcess.TIMEOUT);
		assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
		process().acquire(key);
	}

	@Test
	default void expiredShareEndsAlone() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess dead = process();
			ContractProcess reader = process();
			OwnerId owner = OwnerId.random().ofShare(true);
			LockGrant lapsed = ContractProcess.granted(dead.attemptShare(key, unlimited(), owner, leaseTime, false));
			LockGrant share = reader.acquireShare(key, unlimited());
			TestThread.pass(leaseTime.multipliedBy(2));
			assertThat(dead.renew(lapsed)).isEqualTo(RenewalOutcome.NOT_HELD);
			assertThat(process().isBusy(key)).isTrue();
			assertThat(reader.renew(share)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(reader.release(share)).isEqualTo(ReleaseOutcome.RELEASED);
			process().acquire(key);
		});
	}

	@Test
	default void expiredLastShareFreesTheKey() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess reader = process();
		LockGrant share = reader.acquireShare(key, unlimited());
		fixture().expire(key);
		assertThat(reader.renew(share)).isEqualTo(RenewalOutcome.NOT_HELD);
		LockGrant exclusive = process().acquire(key);
		assertThat(exclusive.order()).isGreaterThan(share.order());
		assertThat(reader.release(share)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(process().isBusy(key)).isTrue();
	}

	@Test
	default void ordersRiseOverSharesAndExclusiveGrants() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess process = process();
		long last = 0;
		for (int turn = 0; turn < 3; turn++) {
			LockGrant one = process.acquireShare(key, unlimited());
			LockGrant other = process.acquireShare(key, unlimited());
			process.release(one);
			process.release(other);
			LockGrant exclusive = process.acquire(key);
			process.release(exclusive);
			assertThat(List.of(last, one.order(), other.order(), exclusive.order())).isSorted().doesNotHaveDuplicates();
			last = exclusive.order();
		}
	}

	@Test
	default void waitingExclusiveContenderIsNotStarved() {
		if (supports(LockMode.SHARED) && fixture().hasWaitQueue()) {
			inTwoRounds(this::assertExclusiveContenderIsNotStarved);
		}
	}

	private void assertExclusiveContenderIsNotStarved() {
		ContractProcess reader = process();
		for (ContractProcess writer : List.of(process(), reader)) {
			LockKey key = freshKey();
			LockGrant share = reader.acquireShare(key, unlimited());
			writer.enqueue(key);
			assertThat(process().isShareBusy(key, unlimited())).isTrue();
			ContractProcess later = process();
			later.enqueueShare(key, unlimited());
			reader.release(share);
			LockGrant exclusive = ContractProcess
				.granted(writer.attempt(key, OwnerId.random(), ContractProcess.LEASE, true));
			later.enqueueShare(key, unlimited());
			writer.release(exclusive);
			ContractProcess.granted(later.attemptShare(key, unlimited(), true));
		}
	}

	@Test
	default void queuedSharesAreGrantedOneAfterTheOther() {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess writer = process();
		LockGrant exclusive = writer.acquire(key);
		List<ContractProcess> readers = List.of(process(), process(), process());
		readers.forEach((reader) -> reader.enqueueShare(key, unlimited()));
		writer.release(exclusive);
		for (ContractProcess reader : readers) {
			// A process that comes late has lost its turn, and gets another one.
			await().atMost(PATIENCE)
				.until(() -> reader.attemptShare(key, unlimited(), true) instanceof AttemptResult.Granted);
		}
		assertThat(writer.isBusy(key)).isTrue();
	}

	@Test
	default void withdrawalOfAShareLeavesTheExclusiveContenderOfItsProcess() {
		if (!supports(LockMode.SHARED) || !fixture().hasWaitQueue()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess both = process();
		LockGrant exclusive = holder.acquire(key);
		both.enqueueShare(key, unlimited());
		both.enqueue(key);
		assertThat(both.withdrawShare(key, unlimited())).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		LockKey other = freshKey();
		LockGrant exclusiveOther = holder.acquire(other);
		both.enqueue(other);
		both.enqueueShare(other, unlimited());
		assertThat(both.withdraw(other)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		holder.release(exclusive);
		ContractProcess.granted(both.attempt(key, OwnerId.random(), ContractProcess.LEASE, true));
		holder.release(exclusiveOther);
		ContractProcess.granted(both.attemptShare(other, unlimited(), true));
	}

	@Test
	default void withdrawnExclusiveContenderLetsSharesIn() {
		if (supports(LockMode.SHARED) && fixture().hasWaitQueue()) {
			inTwoRounds(this::assertWithdrawnContenderLetsSharesIn);
		}
	}

	private void assertWithdrawnContenderLetsSharesIn() {
		LockKey key = freshKey();
		ContractProcess writer = process();
		ContractProcess later = process();
		process().acquireShare(key, unlimited());
		writer.enqueue(key);
		later.enqueueShare(key, unlimited());
		assertThat(writer.withdraw(key)).isNotEqualTo(ReleaseOutcome.UNKNOWN);
		ContractProcess.granted(later.attemptShare(key, unlimited(), true));
	}

	@Test
	default void permitsAreGrantedUpToTheirLimit() {
		if (!supports(LockMode.PERMIT)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess one = process();
		ContractProcess other = process();
		LockGrant first = one.acquireShare(key, 3);
		one.acquireShare(key, 3);
		other.acquireShare(key, 3);
		for (ContractProcess process : List.of(one, other, process())) {
			assertThat(process.isShareBusy(key, 3)).isTrue();
		}
		assertThat(one.release(first)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(other.isBusy(key)).isTrue();
		other.acquireShare(key, 3);
		assertThat(one.isShareBusy(key, 3)).isTrue();
	}

	@Test
	default void limitOfAPermitCountsAllShares() {
		if (!supports(LockMode.PERMIT)) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess process = process();
		LockGrant share = process.acquireShare(key, unlimited());
		assertThat(process.isShareBusy(key, 1)).isTrue();
		process.acquireShare(key, 2);
		assertThat(process.isShareBusy(key, 2)).isTrue();
		process.acquireShare(key, 3);
		process.acquireShare(key, unlimited());
		process.release(share);
		assertThat(process.isShareBusy(key, 3)).isTrue();
	}

	@Test
	default void expiredPermitFreesItsPlace() {
		if (!supports(LockMode.PERMIT)) {
			return;
		}
		inRounds(Duration.ofMillis(100), (leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess dead = process();
			ContractProcess other = process();
			LockGrant held = other.acquireShare(key, 2);
			ContractProcess.granted(dead.attemptShare(key, 2, OwnerId.random().ofShare(true), leaseTime, false));
			await().atMost(ContractSupport.patience(leaseTime)).until(() -> !other.isShareBusy(key, 2));
			assertThat(dead.isShareBusy(key, 2)).isTrue();
			assertThat(other.renew(held)).isEqualTo(RenewalOutcome.RENEWED);
		});
	}

	@Test
	default void releasedPermitGoesToTheQueuedProcess() {
		if (!supports(LockMode.PERMIT) || !fixture().hasWaitQueue()) {
			return;
		}
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockGrant first = holder.acquireShare(key, 2);
		holder.acquireShare(key, 2);
		waiter.enqueueShare(key, 2);
		holder.release(first);
		ContractProcess.granted(waiter.attemptShare(key, 2, true));
		assertThat(holder.isShareBusy(key, 2)).isTrue();
	}

	@Test
	default void modeIsRefusedWhereTheStoreDoesNotHaveIt() {
		ContractProcess process = process();
		LockRequest request = LockRequest.of(freshKey());
		for (LockRequest shared : List.of(request.shared(), request.withPermits(2))) {
			if (!process.provider().supports(shared.mode())) {
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> process.locks().tryAcquire(shared))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.MODE_UNSUPPORTED));
				assertThat(process.locks().acquireAsync(shared)).isCompletedExceptionally();
			}
		}
	}

	@Test
	default void readersOfAllProcessesRunAtOnce() throws Exception {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockRequest request = LockRequest.of(freshKey()).shared().withWaitTime(LONG_WAIT);
		CyclicBarrier inside = new CyclicBarrier(6);
		List<TestThread<Integer>> readers = new ArrayList<>();
		for (ContractProcess process : List.of(process(), process(), process())) {
			for (int reader = 0; reader < 2; reader++) {
				readers.add(TestThread.start(() -> process.locks()
					.execute(request, (lease) -> inside.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))));
			}
		}
		for (TestThread<Integer> reader : readers) {
			assertThat(reader.result()).isNotNegative();
		}
		assertStoreIsEmpty();
	}

	@Test
	default void bodiesOfReadersAndWritersNeverOverlap() throws Exception {
		if (!supports(LockMode.SHARED)) {
			return;
		}
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(LONG_WAIT);
		AtomicInteger readers = new AtomicInteger();
		AtomicInteger writers = new AtomicInteger();
		List<TestThread<Integer>> threads = new ArrayList<>();
		for (ContractProcess process : List.of(process(), process())) {
			for (int number = 0; number < 4; number++) {
				boolean writes = number == 0;
				threads.add(TestThread.start(() -> {
					for (int turn = 0; turn < 10; turn++) {
						process.locks().executeWithoutResult(writes ? request : request.shared(), (lease) -> {
							(writes ? writers : readers).incrementAndGet();
							assertThat(writers.get()).isLessThanOrEqualTo(writes ? 1 : 0);
							assertThat(writes && readers.get() > 0).isFalse();
							(writes ? writers : readers).decrementAndGet();
						});
					}
					return 0;
				}));
			}
		}
		for (TestThread<Integer> thread : threads) {
			thread.result();
		}
		assertStoreIsEmpty();
	}

	@Test
	default void noMoreBodiesRunThanThereArePermits() throws Exception {
		if (!supports(LockMode.PERMIT)) {
			return;
		}
		LockRequest request = LockRequest.of(freshKey()).withPermits(2).withWaitTime(LONG_WAIT);
		AtomicInteger bodies = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		List<TestThread<Integer>> threads = new ArrayList<>();
		for (ContractProcess process : List.of(process(), process())) {
			for (int number = 0; number < 3; number++) {
				threads.add(TestThread.start(() -> {
					for (int turn = 0; turn < 5; turn++) {
						process.locks().execute(request, (lease) -> {
							most.accumulateAndGet(bodies.incrementAndGet(), Math::max);
							Thread.sleep(1);
							return bodies.decrementAndGet();
						});
					}
					return 0;
				}));
			}
		}
		for (TestThread<Integer> thread : threads) {
			thread.result();
		}
		assertThat(most.get()).isBetween(1, 2);
		assertStoreIsEmpty();
	}

}
