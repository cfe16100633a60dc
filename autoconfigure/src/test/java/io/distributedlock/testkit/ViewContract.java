package io.distributedlock.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.support.LockTemplate;

import static io.distributedlock.testkit.ContractConstants.PATIENCE;
import static io.distributedlock.testkit.ContractConstants.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Part of the contract on {@code asLock}: the view keeps the contract of
 * {@code java.util.concurrent.locks.Lock}, and joins the scopes of its thread.
 */
interface ViewContract extends ContractSupport {

	@Test
	default void viewExcludesOtherThreadsAndOtherProcesses() throws Exception {
		LockRequest request = LockRequest.of(freshKey());
		LockTemplate[] processes = { process().locks(), process().locks() };
		AtomicInteger inside = new AtomicInteger();
		CountDownLatch rounds = new CountDownLatch(20);
		for (int i = 0; i < 4; i++) {
			Lock lock = processes[i % 2].asLock(request);
			TestThread.start(() -> {
				for (int round = 0; round < 5; round++) {
					lock.lock();
					try {
						assertThat(inside.incrementAndGet()).isOne();
						inside.decrementAndGet();
					}
					finally {
						lock.unlock();
					}
					rounds.countDown();
				}
				return null;
			});
		}
		assertThat(rounds.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertStoreIsEmpty();
	}

	@Test
	default void viewIsReentrantAndUnlockedAsOftenAsLocked() throws Exception {
		LockRequest request = LockRequest.of(freshKey());
		ContractProcess process = process();
		Lock lock = process.locks().asLock(request);
		Lock same = process.locks().asLock(request);
		lock.lock();
		int attempts = process.provider().attempts();
		lock.lockInterruptibly();
		assertThat(same.tryLock()).isTrue();
		assertThat(same.tryLock(0, TimeUnit.SECONDS)).isTrue();
		assertThat(process.provider().attempts()).isEqualTo(attempts);
		LockTemplate other = process().locks();
		for (int holds = 4; holds > 0; holds--) {
			assertThat(LockContext.current().isHeld()).isTrue();
			assertThat(TestThread.start(lock::tryLock).result()).isFalse();
			assertThat(other.asLock(request).tryLock()).isFalse();
			((holds % 2 == 0) ? lock : same).unlock();
		}
		assertThat(LockContext.find()).isEmpty();
		assertThat(other.asLock(request).tryLock()).isTrue();
		other.asLock(request).unlock();
	}

	@Test
	default void unlockWithoutTheLockIsRefused() throws Exception {
		Lock lock = process().locks().asLock(LockRequest.of(freshKey()));
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
			.withMessageContaining(Thread.currentThread().getName());
		lock.lock();
		TestThread<Object> stranger = TestThread.start(() -> {
			lock.unlock();
			return null;
		});
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(stranger::result)
			.withMessageContaining("test-thread");
		assertThat(TestThread.start(lock::tryLock).result()).isFalse();
		lock.unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
	}

	@Test
	default void tryLockWaitsForItsTimeAndNotForThatOfTheRequest() throws Exception {
		LockKey key = freshKey();
		LockRequest request = LockRequest.of(key).withWaitTime(Duration.ofMinutes(5));
		LockTemplate locks = process().locks();
		Lock lock = locks.asLock(request);
		LockLease held = process().locks().acquire(request);
		assertThat(lock.tryLock()).isFalse();
		assertThat(lock.tryLock(-1, TimeUnit.NANOSECONDS)).isFalse();
		long start = System.nanoTime();
		assertThat(lock.tryLock(200, TimeUnit.MILLISECONDS)).isFalse();
		assertThat(ContractSupport.since(start)).isGreaterThanOrEqualTo(Duration.ofMillis(200)).isLessThan(PATIENCE);
		TestThread<Boolean> waiter = TestThread.start(() -> {
			boolean locked = lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS);
			lock.unlock();
			return locked;
		});
		await().atMost(PATIENCE).until(waiter::isWaiting);
		held.close();
		assertThat(waiter.result()).isTrue();
	}

	@Test
	default void lockIgnoresTheWaitTimeAndInterrupts() throws Exception {
		LockRequest request = LockRequest.of(freshKey()).withWaitTime(Duration.ZERO);
		Lock lock = process().locks().asLock(request);
		LockLease held = process().locks().acquire(request);
		TestThread<Boolean> waiter = TestThread.start(() -> {
			lock.lock();
			try {
				return Thread.currentThread().isInterrupted() && LockContext.current().isHeld();
			}
			finally {
				lock.unlock();
			}
		});
		await().atMost(PATIENCE).until(waiter::isWaiting);
		waiter.interrupt();
		TestThread.pass(Duration.ofMillis(100));
		assertThat(waiter.isDone()).isFalse();
		held.close();
		assertThat(waiter.result()).isTrue();
	}

	@Test
	default void interruptEndsTheWaitsThatAreInterruptible() throws Exception {
		LockRequest request = LockRequest.of(freshKey());
		Lock lock = process().locks().asLock(request);
		LockLease held = process().locks().acquire(request);
		TestThread<Object> first = TestThread.start(() -> {
			lock.lockInterruptibly();
			return null;
		});
		TestThread<Object> second = TestThread.start(() -> lock.tryLock(1, TimeUnit.DAYS));
		await().atMost(PATIENCE).until(() -> first.isWaiting() && second.isWaiting());
		first.interrupt();
		second.interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(first::result);
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(second::result);
		held.close();
		TestThread<Object> interruptedBefore = TestThread.start(() -> {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::lockInterruptibly);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			Thread.currentThread().interrupt();
			assertThat(lock.tryLock()).isTrue();
			assertThat(Thread.interrupted()).isTrue();
			lock.unlock();
			return null;
		});
		interruptedBefore.result();
		assertStoreIsEmpty();
	}

	@Test
	default void twoViewsAreUnlockedInAnyOrder() throws Exception {
		LockTemplate locks = process().locks();
		LockRequest firstRequest = LockRequest.of(freshKey());
		LockRequest secondRequest = LockRequest.of(freshKey());
		Lock first = locks.asLock(firstRequest);
		Lock second = locks.asLock(secondRequest);
		first.lock();
		second.lock();
		first.unlock();
		assertThat(LockContext.findAll()).hasSize(1);
		assertThat(LockContext.current().keys()).isEqualTo(secondRequest.keys());
		assertThat(TestThread.start(() -> tryOnce(first)).result()).isTrue();
		assertThat(TestThread.start(() -> tryOnce(second)).result()).isFalse();
		second.unlock();
		assertThat(LockContext.find()).isEmpty();
		assertStoreIsEmpty();
	}

	@Test
	default void viewJoinsTheBodyAroundItAndOutlastsIt() throws Exception {
		LockRequest request = LockRequest.of(freshKey());
		LockTemplate locks = process().locks();
		Lock lock = locks.asLock(request);
		locks.execute(request, (lease) -> {
			lock.lock();
			assertThat(LockContext.current().fencingToken()).isEqualTo(lease.fencingToken());
			return null;
		});
		assertThat(TestThread.start(() -> tryOnce(lock)).result()).isFalse();
		assertThat(LockContext.current().isHeld()).isTrue();
		lock.unlock();
		assertThat(TestThread.start(() -> tryOnce(lock)).result()).isTrue();
		assertThat(LockContext.find()).isEmpty();
	}

	/** Else the body would run on without its lock. */
	@Test
	default void viewIsNotUnlockedUnderABodyThatHasJoinedIt() throws Exception {
		LockRequest request = LockRequest.of(freshKey());
		LockTemplate locks = process().locks();
		Lock lock = locks.asLock(request);
		lock.lock();
		locks.execute(request, (lease) -> {
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
			assertThat(lease.isHeld()).isTrue();
			lock.lock();
			lock.lock();
			lock.unlock();
			lock.unlock();
			assertThat(lease.isHeld()).isTrue();
			return null;
		});
		lock.unlock();
		assertThat(LockContext.find()).isEmpty();
		assertStoreIsEmpty();
	}

	@Test
	default void unlockOfALostLockReportsTheLoss() {
		LockKey key = freshKey();
		LockRequest request = LockRequest.of(key).withLease(SHORT_LEASE);
		Lock lock = process().locks().asLock(request);
		lock.lock();
		LockLease lease = LockContext.current();
		fixture().expire(key);
		await().atMost(PATIENCE).until(() -> !lease.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThat(LockContext.find()).isEmpty();
		lock.lock();
		lock.unlock();
	}

	private static boolean tryOnce(Lock lock) {
		boolean locked = lock.tryLock();
		if (locked) {
			lock.unlock();
		}
		return locked;
	}

}
