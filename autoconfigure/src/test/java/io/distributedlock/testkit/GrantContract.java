package io.distributedlock.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.TOLERANCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on grants: a key has one owner at a time, and the orders of its
 * grants rise.
 */
interface GrantContract extends ContractSupport {

	@Test
	default void freeKeyIsGrantedAndHeldKeyIsBusyForAllProcesses() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		assertThat(grant.key()).isEqualTo(key);
		assertThat(grant.order()).isBetween(1L, FencingToken.MAX_ORDER);
		assertThat(grant.validity()).isPositive().isLessThanOrEqualTo(ContractProcess.LEASE);
		assertThat(holder.isBusy(key)).isTrue();
		assertThat(process().isBusy(key)).isTrue();
	}

	@Test
	default void exactlyOneOfManyConcurrentAttemptsIsGranted() throws Exception {
		List<ContractProcess> processes = List.of(process(), process());
		ExecutorService threads = Executors.newFixedThreadPool(16);
		int all = 0;
		try {
			for (int round = 0; round < 30; round++) {
				LockKey key = freshKey();
				List<Future<AttemptResult>> attempts = new ArrayList<>();
				for (int thread = 0; thread < 16; thread++) {
					ContractProcess process = processes.get(thread % processes.size());
					boolean willWait = thread % 3 == 0;
					attempts.add(threads.submit(() -> StoreCalls.resultOf(process.provider().newContender(key, () -> {
						// This contender does not wait for signals.
					}).attempt(OwnerId.random(), ContractProcess.LEASE, willWait, ContractProcess.TIMEOUT))));
				}
				int granted = 0;
				for (Future<AttemptResult> attempt : attempts) {
					granted += (attempt.get() instanceof AttemptResult.Granted) ? 1 : 0;
				}
				assertThat(granted).isBetween(fixture().mayRefuseAll() ? 0 : 1, 1);
				all += granted;
			}
			assertThat(all).isPositive();
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	default void repeatedAttemptReturnsTheSameGrantAndExpiry() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		OwnerId owner = OwnerId.random();
		LockGrant first = ContractProcess.granted(holder.attempt(key, owner, ContractProcess.LEASE, false));
		LockGrant again = ContractProcess.granted(holder.attempt(key, owner, Duration.ofHours(1), true));
		assertThat(again.owner()).isEqualTo(owner);
		if (fixture().keepsOrders()) {
			assertThat(again.order()).isEqualTo(first.order());
		}
		else {
			assertThat(again.order()).isGreaterThan(first.order());
		}
		assertThat(again.validity()).isPositive().isLessThanOrEqualTo(ContractProcess.LEASE);
		AttemptResult.Busy busy = ContractProcess.busy(process().attempt(key));
		assertThat(busy.retryAfter()).isLessThanOrEqualTo(ContractProcess.LEASE);
		if (busy.holder() != null && busy.holder().remaining() != null) {
			assertThat(busy.holder().remaining()).isLessThanOrEqualTo(ContractProcess.LEASE);
		}
	}

	@Test
	default void busyAnswerNamesTheHolderAndTheRetryTime() {
		LockKey key = freshKey();
		process().acquire(key, Duration.ofSeconds(20));
		ContractProcess other = process();
		for (AttemptResult.Busy busy : List.of(ContractProcess.busy(other.attempt(key)), other.enqueue(key),
				other.enqueue(key))) {
			assertThat(busy.retryAfter()).isBetween(Duration.ZERO, Duration.ofSeconds(20));
			assertThat(busy.holder()).isNotNull();
			assertThat(busy.holder().label()).isNotBlank();
			assertThat(busy.holder().heldFor()).isBetween(Duration.ZERO, PATIENCE);
			if (fixture().reportsRemaining()) {
				assertThat(busy.holder().remaining()).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
			}
		}
	}

	@Test
	default void expiredLeaseIsGrantedToAnyProcessButNotEarly() {
		withShortLease((leaseTime) -> {
			LockKey key = freshKey();
			ContractProcess other = process();
			ContractProcess holder = process();
			long requested = System.nanoTime();
			holder.acquire(key, leaseTime);
			AttemptResult attempt = other.attempt(key);
			if (attempt instanceof AttemptResult.Granted) {
				ContractSupport.assertNotEarly(requested, leaseTime);
			}
			assertThat(ContractProcess.busy(attempt).retryAfter()).isLessThanOrEqualTo(leaseTime);
			await().pollInterval(Duration.ofMillis(5))
				.atMost(leaseTime.plus(TOLERANCE))
				.until(() -> !other.isBusy(key));
			ContractSupport.assertNotEarly(requested, leaseTime);
		});
	}

	@Test
	default void ordersRiseOverReleaseExpiryAndWithdrawal() {
		LockKey key = freshKey();
		List<ContractProcess> processes = List.of(process(), process());
		long last = 0;
		for (int round = 0; round < 12; round++) {
			ContractProcess holder = processes.get(round % 2);
			ContractProcess other = processes.get(1 - round % 2);
			LockGrant grant = holder.acquire(key);
			assertThat(grant.order()).isGreaterThan(last);
			last = grant.order();
			if (round % 3 == 0) {
				fixture().expire(key);
			}
			else {
				if (round % 3 == 1) {
					other.enqueue(key);
				}
				holder.release(grant);
				other.withdraw(key);
			}
		}
	}

	@Test
	default void ordersRiseForEachOfManyKeys() {
		ContractProcess holder = process();
		for (int number = 0; number < 50; number++) {
			LockKey key = freshKey();
			long last = 0;
			for (int round = 0; round < 4; round++) {
				LockGrant grant = holder.acquire(key);
				assertThat(grant.order()).isGreaterThan(last);
				last = grant.order();
				holder.release(grant);
			}
		}
		assertStoreIsEmpty();
	}

}
