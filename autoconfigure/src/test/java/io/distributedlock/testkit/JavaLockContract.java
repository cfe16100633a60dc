package io.distributedlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on {@code asLock}: the view keeps what
 * {@link java.util.concurrent.locks.Lock} promises, as {@code ReentrantLock} does.
 */
interface JavaLockContract extends ContractSupport {

	private LockRequest attempt(LockKey key) {
		return LockRequest.of(key).withWaitTime(Duration.ZERO);
	}

	@Test
	default void lockIsHeldUntilItIsUnlockedAsOftenAsLocked() throws Exception {
		LockKey key = freshKey();
		ContractProcess process = process();
		ContractProcess other = process();
		Lock lock = process.locks().asLock(attempt(key));
		lock.lock();
		int attempts = process.provider().attempts();
		process.locks().asLock(LockRequest.of(key)).lockInterruptibly();
		assertThat(lock.tryLock()).isTrue();
		assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isTrue();
		assertThat(process.provider().attempts()).isEqualTo(attempts);
		for (int count = 0; count < 4; count++) {
			assertThat(other.isBusy(key)).isTrue();
			assertThat(LockContext.current().keys()).containsExactly(key);
			lock.unlock();
		}
		assertThat(LockContext.find()).isEmpty();
		assertThat(other.isBusy(key)).isFalse();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
			.withMessageContaining(key.encoded());
		assertThat(lock.toString()).contains(key.encoded());
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
	}

	@Test
	default void lockOfAnotherThreadIsBusyAndNotUnlocked() throws Exception {
		LockTemplate locks = process().locks();
		Lock lock = locks.asLock(LockRequest.of(freshKey()));
		lock.lock();
		assertThat(TestThread.start(lock::tryLock).result()).isFalse();
		assertThat(TestThread.start(() -> lock.tryLock(20, TimeUnit.MILLISECONDS)).result()).isFalse();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> TestThread.start(() -> {
			lock.unlock();
			return null;
		}).result());
		TestThread<Boolean> waiting = TestThread.start(() -> lock.tryLock(1, TimeUnit.MINUTES));
		await().until(waiting::isWaiting);
		lock.unlock();
		assertThat(waiting.result()).isTrue();
	}

	@Test
	default void lockJoinsScopesAndIsJoinedByThem() {
		LockKey key = freshKey();
		ContractProcess process = process();
		ContractProcess other = process();
		Lock lock = process.locks().asLock(attempt(key));
		process.locks().execute(attempt(key), (outer) -> {
			lock.lock();
			assertThat(LockContext.current().fencingToken()).isEqualTo(outer.fencingToken());
			return null;
		});
		assertThat(LockContext.findAll()).hasSize(1);
		assertThat(other.isBusy(key)).isTrue();
		process.locks().execute(attempt(key), (inner) -> {
			inner.ensureHeld();
			return null;
		});
		lock.unlock();
		assertThat(LockContext.find()).isEmpty();
		assertThat(other.isBusy(key)).isFalse();
	}

	@Test
	default void locksAreUnlockedInAnyOrder() {
		LockKey first = freshKey();
		LockKey second = freshKey();
		ContractProcess process = process();
		ContractProcess other = process();
		Lock one = process.locks().asLock(attempt(first));
		Lock both = process.locks().asLock(attempt(first).withKeys(List.of(first, second)));
		one.lock();
		both.lock();
		one.unlock();
		assertThat(LockContext.current().keys()).containsExactlyInAnyOrder(first, second);
		assertThat(other.isBusy(first)).isTrue();
		both.unlock();
		assertThat(LockContext.find()).isEmpty();
		assertThat(other.isBusy(first)).isFalse();
		assertThat(other.isBusy(second)).isFalse();
	}

	@Test
	default void interruptEndsInterruptibleWaitsOnly() throws Exception {
		LockTemplate locks = process().locks();
		Lock lock = locks.asLock(attempt(freshKey()));
		lock.lock();
		TestThread<Boolean> interruptible = TestThread.start(() -> {
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> lock.tryLock(1, TimeUnit.MINUTES));
			Thread.currentThread().interrupt();
			assertThat(lock.tryLock()).isFalse();
			return Thread.interrupted();
		});
		await().until(interruptible::isWaiting);
		interruptible.interrupt();
		assertThat(interruptible.result()).isTrue();
		TestThread<Boolean> uninterruptible = TestThread.start(() -> {
			lock.lock();
			lock.unlock();
			return Thread.currentThread().isInterrupted();
		});
		await().until(uninterruptible::isWaiting);
		uninterruptible.interrupt();
		await().during(Duration.ofMillis(30)).atMost(PATIENCE).until(() -> !uninterruptible.isDone());
		lock.unlock();
		assertThat(uninterruptible.result()).isTrue();
		assertStoreIsEmpty();
	}

	@Test
	default void lossOfALockIsToldByEachUnlock() {
		// A round that fails leaves its thread with the lock.
		withShortLease((leaseTime) -> TestThread.start(() -> {
			assertLossIsToldByEachUnlock(leaseTime);
			return null;
		}).result());
	}

	private void assertLossIsToldByEachUnlock(Duration leaseTime) {
		LockKey key = freshKey();
		Lock lock = process().locks().asLock(attempt(key).withLease(leaseTime));
		lock.lock();
		lock.lock();
		LockLease lease = LockContext.current();
		fixture().expire(key);
		ContractSupport.awaitLoss(lease);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::lock)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.REENTRY_AFTER_LOSS));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThat(LockContext.find()).isEmpty();
		assertThat(lock.tryLock()).isTrue();
		lock.unlock();
	}

	@Test
	default void threadsUnderTheLockNeverOverlap() {
		LockTemplate locks = process().locks();
		LockTemplate rival = process().locks();
		LockRequest request = attempt(freshKey());
		int[] counter = new int[1];
		ContractSupport.inThreads(List.of(locks, rival, locks, rival), (template) -> {
			Lock lock = template.asLock(request);
			for (int round = 0; round < 25; round++) {
				lock.lock();
				try {
					int before = counter[0];
					Thread.yield();
					counter[0] = before + 1;
				}
				finally {
					lock.unlock();
				}
			}
			return true;
		});
		assertThat(counter[0]).isEqualTo(100);
	}

}
