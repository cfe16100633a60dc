package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.StoreFaults.Fault;

import static io.distributedlock.testkit.ContractConstants.CALL_TIMEOUT;
import static io.distributedlock.testkit.ContractConstants.CLEANUP_LIMIT;
import static io.distributedlock.testkit.ContractConstants.FAILED_CALLS;
import static io.distributedlock.testkit.ContractConstants.LONG_LEASE;
import static io.distributedlock.testkit.ContractConstants.ONE_SECOND;
import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

/**
 * Part of the fault contract on frozen servers: every call ends in time and never reports
 * a busy lock. When the server resumes, only locks with a handle stay held.
 */
interface FrozenStoreContract extends FaultSupport {

	@Test
	@WholeStore
	default void callsEndInTimeWhileTheStoreIsFrozen() {
		inRounds(Duration.ofSeconds(2), this::freezeUnderLoad);
	}

	@Test
	@WholeStore
	@Soak
	default void callsEndInTimeWhileTheStoreIsFrozenRepeatedly() throws Exception {
		for (int round = 0; round < 10; round++) {
			freezeUnderLoad(Duration.ofSeconds(10));
		}
	}

	private void freezeUnderLoad(Duration time) throws Exception {
		FaultyProcess process = process(proxy());
		LockLease kept = FaultSupport.acquired(process.locks(), LockRequest.of(freshKey()).withLease(LONG_LEASE));
		Queue<LockLease> leases = new ConcurrentLinkedQueue<>();
		List<LockGrant> grants = new ArrayList<>();
		for (int thread = 0; thread < 20; thread++) {
			leases.add(FaultSupport.acquired(process.locks(), LockRequest.of(freshKey()).withLease(LONG_LEASE)));
			grants.add(process.process().acquire(freshKey(), LONG_LEASE));
		}
		AtomicBoolean thawed = new AtomicBoolean();
		AtomicLong longest = new AtomicLong();
		AtomicLong failed = new AtomicLong();
		List<TestThread<Void>> threads = new ArrayList<>();
		try (Fault frozen = faults().freeze()) {
			for (LockGrant grant : grants) {
				threads.add(TestThread.start(() -> {
					for (int round = grants.indexOf(grant); !thawed.get(); round++) {
						long start = System.nanoTime();
						boolean answered = call(round % 3, process, grant, leases);
						longest.accumulateAndGet(System.nanoTime() - start, Math::max);
						failed.addAndGet(answered ? 0 : 1);
					}
					return null;
				}));
			}
			TestThread.pass(time);
			await().atMost(PATIENCE)
				.until(() -> failed.get() >= FAILED_CALLS || threads.stream().anyMatch(TestThread::isDone));
		}
		finally {
			thawed.set(true);
		}
		for (TestThread<Void> thread : threads) {
			thread.result();
		}
		leases.forEach(LockLease::close);
		for (LockGrant grant : grants) {
			await().pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(20))
				.until(() -> process.process().release(grant) != ReleaseOutcome.UNKNOWN);
		}
		await().atMost(CLEANUP_LIMIT)
			.pollInterval(Duration.ofMillis(100))
			.untilAsserted(() -> assertThat(fixture().heldEntries()).isEqualTo(1));
		assertThat(kept.isHeld()).isTrue();
		kept.close();
		LogFactory.getLog(FrozenStoreContract.class)
			.info("Longest call while the store was frozen: " + longest.get() / 1_000_000 + " ms; calls that failed: "
					+ failed);
		assertThat(Duration.ofNanos(longest.get())).isLessThanOrEqualTo(FaultSupport.bound(ONE_SECOND));
	}

	/** Acquires, renews or releases, and returns whether the store answered. */
	private boolean call(int kind, FaultyProcess process, LockGrant grant, Queue<LockLease> leases) {
		try {
			switch (kind) {
				case 0 -> leases.add(process.locks()
					.acquire(LockRequest.of(freshKey()).withWaitTime(ONE_SECOND).withLease(LONG_LEASE)));
				case 1 -> {
					Map<LockGrant, RenewalOutcome> outcomes = StoreCalls
						.resultOf(process.log().renew(Map.of(grant, LONG_LEASE), ONE_SECOND), ONE_SECOND);
					Rounds.promise(() -> assertThat(outcomes).doesNotContainValue(RenewalOutcome.NOT_HELD));
				}
				default -> {
					LockLease lease = leases.poll();
					if (lease != null) {
						lease.close();
					}
				}
			}
			return true;
		}
		catch (LockNotAcquiredException ex) {
			Rounds.promise(() -> fail("busy while the store was frozen", ex));
			return false;
		}
		catch (LockProviderException ex) {
			return false;
		}
	}

	@Test
	@WholeStore
	default void frozenStoreFailsTheWaiterInsteadOfReportingBusy() {
		// Long enough for another attempt after the store froze, even on a loaded
		// machine.
		Duration wait = TimeBounds.withLoad(fixture().pollBound().multipliedBy(2).plusMillis(500));
		inRounds(wait, this::assertFrozenStoreFailsTheWaiter);
	}

	private void assertFrozenStoreFailsTheWaiter(Duration wait) throws Exception {
		LockKey key = freshKey();
		process().acquire(key);
		FaultyProcess waiting = process(proxy());
		TestThread<LockLease> waiter = TestThread
			.start(() -> waiting.locks().acquire(LockRequest.of(key).withWaitTime(wait)));
		long started = System.nanoTime();
		// A thread that waits within the driver is not seen to wait.
		await().until(() -> waiting.process().provider().attempts() > (waiter.isWaiting() ? 0 : 1));
		try (Fault frozen = faults().freeze()) {
			assertStoreFailed(waiter::result);
			assertThat(ContractSupport.since(started)).isLessThanOrEqualTo(FaultSupport.bound(wait));
		}
	}

	@Test
	@WholeStore
	default void shutdownRefusesWaitersWhileTheStoreIsFrozen() {
		inTwoRounds(this::assertShutdownRefusesWaiters);
	}

	private void assertShutdownRefusesWaiters() throws Exception {
		LockKey key = freshKey();
		process().acquire(key);
		FaultyProcess waiting = process(proxy());
		LockTemplate locks = waiting.locks();
		LockLease held = FaultSupport.acquired(locks, LockRequest.of(freshKey()).withLease(LONG_LEASE));
		TestThread<LockLease> waiter = FaultSupport.startWaiter(waiting.process(),
				LockRequest.of(key).withWaitTime(PATIENCE), 2);
		try (Fault frozen = faults().freeze()) {
			Duration grace = Duration.ofMillis(300);
			long stopped = System.nanoTime();
			TestThread<Void> stop = TestThread.start(() -> {
				locks.stop(grace);
				return null;
			});
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(waiter::result);
			assertThat(ContractSupport.since(stopped)).isLessThan(ONE_SECOND.plus(TOLERANCE));
			stop.result();
			// An attempt that was under way ends, and then the command that releases it.
			assertThat(ContractSupport.since(stopped))
				.isLessThan(grace.plus(CALL_TIMEOUT.multipliedBy(2)).plus(TOLERANCE));
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(freshKey())))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
			assertThat(held.isHeld()).isTrue();
		}
	}

	@Test
	@WholeStore
	default void lossIsReportedByTheDeadlineWhileTheStoreIsFrozen() {
		inRounds(TimeBounds.withLoad(900), (leaseTime) -> {
			CountDownLatch blocked = new CountDownLatch(1);
			try {
				assertLossIsReportedByTheDeadline(leaseTime, blocked);
			}
			finally {
				blocked.countDown();
			}
		});
	}

	private void assertLossIsReportedByTheDeadline(Duration leaseTime, CountDownLatch blocked) {
		Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
		FaultyProcess process = process(proxy());
		LockTemplate locks = process.process().locks(new LockRecorder() {

			@Override
			public void onLost(LockLease lease, LossReason reason) {
				reasons.add(reason);
				if (reasons.size() == 1) {
					uninterruptibly(blocked);
				}
				throw new IllegalStateException("of the listener");
			}

		});
		List<LockLease> leases = new ArrayList<>();
		for (int number = 0; number < 3; number++) {
			leases.add(FaultSupport.acquired(locks, LockRequest.of(freshKey()).withLease(leaseTime)));
		}
		try (Fault frozen = faults().freeze()) {
			await().pollInterval(Duration.ofMillis(5))
				.atMost(leaseTime.plus(TOLERANCE))
				.until(() -> leases.stream().noneMatch(LockLease::isHeld));
			await().atMost(TimeBounds.withLoad(ONE_SECOND)).until(() -> reasons.size() == 3);
			assertThat(reasons).containsOnly(LossReason.EXPIRED);
		}
		blocked.countDown();
		assertStoreIsEmpty();
		await().atMost(CLEANUP_LIMIT).ignoreExceptions().until(() -> {
			locks.acquire(LockRequest.of(freshKey())).close();
			return true;
		});
	}

	private static void uninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static void assertStoreFailed(Callable<?> call) {
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::call)
			.satisfies((ex) -> assertThat(ex.error()).isIn(LockError.STORE_TIMEOUT, LockError.STORE_FAILED));
	}

}
