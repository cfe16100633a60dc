package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a view of a lock does over a store that fails, and what it leaves behind.
 */
class ThreadBoundLockTests {

	private static final LockKey KEY = LockKey.of("viewed");

	private final ScriptedLockProvider provider = new ScriptedLockProvider();

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, List.of(),
			List.of());

	private final AtomicInteger attempts = new AtomicInteger();

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private void failAttempts(int count) {
		this.provider.onAttempt = (answer) -> {
			if (this.attempts.incrementAndGet() <= count) {
				throw new LockProviderException(LockError.STORE_FAILED, "scripted", "fails", null);
			}
			return answer;
		};
	}

	@Test
	void lockEndsWithTheErrorOfAStoreThatFailsForTheWaitTime() {
		failAttempts(Integer.MAX_VALUE);
		Lock lock = this.locks.asLock(LockRequest.of(KEY).withWaitTime(Duration.ofMillis(100)));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(lock::lock)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED));
		assertThat(this.attempts.get()).isGreaterThan(1);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(lock::tryLock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
	}

	/** Answers without the store between its failures are no sign of life. */
	@Test
	void answerForWhichTheStoreWasNotAskedDoesNotProlongTheWaitForAStoreThatFails() {
		this.provider.onAttempt = (answer) -> {
			if (this.attempts.incrementAndGet() % 2 == 1) {
				throw new LockProviderException(LockError.STORE_FAILED, "scripted", "fails", null);
			}
			return new AttemptResult.Busy(Duration.ofMillis(10), null, false);
		};
		Lock lock = this.locks.asLock(LockRequest.of(KEY).withWaitTime(Duration.ofMillis(200)));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(lock::lock);
		assertThat(this.attempts.get()).isGreaterThan(2);
	}

	@Test
	void lockOutlastsAFailureThatPasses() {
		failAttempts(3);
		Lock lock = this.locks.asLock(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1)));
		lock.lock();
		lock.unlock();
		assertThat(this.attempts).hasValueGreaterThan(3);
	}

	@Test
	void lockWaitsLongerThanTheWaitTime() throws Exception {
		Lock lock = this.locks.asLock(LockRequest.of(KEY).withWaitTime(Duration.ZERO));
		LockLease held = this.locks.acquire(LockRequest.of(KEY));
		Thread waiting = new Thread(() -> {
			lock.lock();
			lock.unlock();
			this.attempts.incrementAndGet();
		});
		waiting.start();
		waiting.join(50);
		assertThat(waiting.isAlive()).isTrue();
		held.close();
		waiting.join(60_000);
		assertThat(this.attempts).hasValue(1);
	}

	/** Else the body would run on without its lock. */
	@Test
	void lockIsNotUnlockedUnderABodyThatHasJoinedIt() {
		LockRequest two = LockRequest.ofAll(List.of(KEY, LockKey.of("other")));
		Lock lock = this.locks.asLock(LockRequest.of(KEY));
		lock.lock();
		for (LockRequest request : List.of(LockRequest.of(KEY), two)) {
			this.locks.execute(request, (lease) -> {
				assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
					.withMessageContaining("is needed by a call that runs inside it");
				lock.lock();
				lock.unlock();
				assertThat(lease.isHeld()).isTrue();
				return null;
			});
		}
		lock.unlock();
		assertThat(this.locks.snapshot().held()).isEmpty();
	}

	@Test
	void nothingIsKeptWhereNothingIsLocked() {
		for (int number = 0; number < 100; number++) {
			Lock lock = this.locks.asLock(LockRequest.of(LockKey.of("viewed", Integer.toString(number))));
			lock.lock();
			lock.lock();
			lock.unlock();
			assertThat((Map<?, ?>) ReflectionTestUtils.getField(this.locks, "threadHolds")).hasSize(1);
			lock.unlock();
		}
		assertThat((Map<?, ?>) ReflectionTestUtils.getField(this.locks, "threadHolds")).isEmpty();
		assertThat(this.locks.snapshot().held()).isEmpty();
	}

}
