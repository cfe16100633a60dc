package io.distributedlock.testkit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockGrant;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on {@code acquireAsync}: a future keeps the promises of a call.
 */
interface AsyncContract extends ContractSupport {

	@Test
	default void futureCompletesWithTheLockOnceItIsFree() throws Exception {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		ContractProcess waiting = process();
		CompletableFuture<LockLease> future = waiting.locks().acquireAsync(LockRequest.of(key).withWaitTime(PATIENCE));
		await().until(() -> waiting.provider().attempts() > 0);
		assertThat(future).isNotDone();
		holder.release(grant);
		try (LockLease lease = future.get(10, TimeUnit.SECONDS)) {
			assertThat(lease.isHeld()).isTrue();
			assertThat(lease.fencingToken().order()).isGreaterThan(grant.order());
		}
		assertStoreIsEmpty();
	}

	@Test
	default void busyLockFailsTheFutureWhenTheWaitTimeIsOver() {
		inRounds(SHORT_WAIT, (waitTime) -> {
			LockKey key = freshKey();
			process().acquire(key);
			LockTemplate locks = process().locks();
			long start = System.nanoTime();
			CompletableFuture<LockLease> future = locks.acquireAsync(LockRequest.of(key).withWaitTime(waitTime));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> future.get(10, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockNotAcquiredException.class);
			ContractSupport.assertWaited(start, waitTime);
		});
	}

	@Test
	default void cancellationWithdrawsTheContender() {
		LockKey key = freshKey();
		ContractProcess holder = process();
		LockGrant grant = holder.acquire(key);
		ContractProcess waiting = process();
		CompletableFuture<LockLease> future = waiting.locks().acquireAsync(LockRequest.of(key).withWaitTime(PATIENCE));
		await().until(() -> waiting.provider().attempts() > 0);
		future.cancel(true);
		holder.release(grant);
		assertStoreIsEmpty();
		// An attempt may still be under way; its grant is released.
		process().locks().acquire(LockRequest.of(key).withWaitTime(PATIENCE)).close();
	}

	@Test
	default void grantAfterTheCancellationIsReleased() {
		LockTemplate locks = process().locks();
		for (int round = 0; round < 50; round++) {
			CompletableFuture<LockLease> future = locks.acquireAsync(LockRequest.of(freshKey()));
			if (!future.cancel(true)) {
				future.join().close();
			}
		}
		assertStoreIsEmpty();
	}

}
