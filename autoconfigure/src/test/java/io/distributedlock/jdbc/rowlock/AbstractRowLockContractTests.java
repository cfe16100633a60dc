package io.distributedlock.jdbc.rowlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.ContractProcess;
import io.distributedlock.testkit.LockProviderContract;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.StoreCalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Contract of row locks. The queue of processes is the database's own, in which a process
 * stands while its attempt lasts, and each lock takes a connection: what the contract
 * asks of reservations and of many locks is tested in the form that row locks have.
 */
public abstract class AbstractRowLockContractTests extends LockProviderContract {

	/** Beyond it no more connections are opened for the test of many keys. */
	private static final int MANY = 100;

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Duration LONG_WAIT = Duration.ofSeconds(50);

	public abstract RowLockFixture createRowLocks();

	@Override
	protected final LockProviderFixture createFixture() {
		return createRowLocks();
	}

	@Test
	@Override
	public void releaseReservesTheLockForTheQueuedProcess() {
		assertQueueOfTheDatabaseIsServed(1);
	}

	@Test
	@Override
	public void queuedProcessesAreGrantedInOrderOfArrival() {
		assertQueueOfTheDatabaseIsServed(3);
	}

	/** No process is left out, and each is granted as soon as the one before releases. */
	private void assertQueueOfTheDatabaseIsServed(int waiters) {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		List<CompletableFuture<Long>> waiting = new ArrayList<>();
		for (int waiter = 0; waiter < waiters; waiter++) {
			ContractProcess process = process();
			waiting.add(CompletableFuture.supplyAsync(() -> {
				try (LockLease lease = process.locks().acquire(LockRequest.of(key).withWaitTime(LONG_WAIT))) {
					lease.ensureHeld();
					return lease.fencingToken().order();
				}
			}, AbstractRowLockContractTests::inThread));
			await().until(() -> !process.locks().snapshot().waiting().isEmpty());
		}
		assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(waiting.stream().map(CompletableFuture::join)).doesNotHaveDuplicates()
			.allMatch((order) -> order > grant.order());
	}

	private static void inThread(Runnable work) {
		Thread thread = new Thread(work, "waiter-for-a-row");
		thread.setDaemon(true);
		thread.start();
	}

	@Test
	@Override
	public void repeatedAttemptKeepsTheQueueEntry() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		ContractProcess waiter = process();
		LockGrant grant = holder.acquire(key);
		assertThat(waiter.isBusy(key)).isTrue();
		assertThat(waiter.isBusy(key)).isTrue();
		holder.release(grant);
		waiter.acquire(key);
	}

	@Test
	@Override
	public void queuedProcessIsNotOvertaken() {
		LockKey key = freshKey();
		List<CompletableFuture<Void>> threads = new ArrayList<>();
		for (int number = 0; number < 3; number++) {
			ContractProcess process = process();
			threads.add(CompletableFuture.runAsync(() -> {
				for (int round = 0; round < 10; round++) {
					process.locks().acquire(LockRequest.of(key).withWaitTime(LONG_WAIT)).close();
				}
			}, AbstractRowLockContractTests::inThread));
		}
		threads.forEach(CompletableFuture::join);
	}

	@Test
	@Override
	public void fiveHundredGrantsAreRenewedInOneCall() {
		LockProvider provider = fixture().newProcess();
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (int number = 0; number < MANY; number++) {
			leases.put(granted(provider, freshKey()), LEASE);
		}
		assertThat(StoreCalls.resultOf(provider.renew(leases, LEASE))).hasSize(MANY)
			.allSatisfy((grant, outcome) -> assertThat(outcome).isEqualTo(RenewalOutcome.RENEWED));
		leases.keySet()
			.forEach((grant) -> assertThat(StoreCalls.resultOf(provider.release(grant.key(), grant.owner(), LEASE)))
				.isEqualTo(ReleaseOutcome.RELEASED));
		assertStoreIsEmpty();
	}

	@Test
	@Override
	public void thousandKeysHeldAtOnceLeaveNothingBehind() {
		ContractProcess holder = process();
		List<LockGrant> grants = acquireMany(holder);
		assertThat(fixture().heldEntries()).isEqualTo(MANY);
		grants.forEach((grant) -> assertThat(holder.release(grant)).isEqualTo(ReleaseOutcome.RELEASED));
		assertStoreIsEmpty();
	}

	private static LockGrant granted(LockProvider provider, LockKey key) {
		AttemptResult result = StoreCalls.resultOf(provider.newContender(key, () -> {
			// Nobody waits.
		}).attempt(OwnerId.random(), LEASE, false, LEASE));
		assertThat(result).isInstanceOf(AttemptResult.Granted.class);
		return ((AttemptResult.Granted) result).grant();
	}

	private List<LockGrant> acquireMany(ContractProcess holder) {
		List<LockGrant> grants = new ArrayList<>();
		for (int number = 0; number < MANY; number++) {
			grants.add(holder.acquire(freshKey(), LEASE));
		}
		return grants;
	}

}
