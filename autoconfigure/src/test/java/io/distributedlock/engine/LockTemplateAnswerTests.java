package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What a request is told when an answer of the store is missing.
 */
class LockTemplateAnswerTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private final ScriptedLockProvider provider = new ScriptedLockProvider(true);

	private final LockTimer timer = new LockTimer();

	private LockTemplate locks = template(Duration.ofSeconds(5));

	private LockTemplate template(Duration callTimeout) {
		return new LockTemplate(this.provider, LockSettings.defaults().withCallTimeout(callTimeout), this.timer,
				List.of(), List.of());
	}

	@AfterEach
	void stop() {
		this.locks.close();
		this.timer.close();
	}

	@Test
	void interruptOfTheHeadIsNoFailureForOthers() throws Exception {
		CountDownLatch never = new CountDownLatch(1);
		AtomicInteger attempts = new AtomicInteger();
		this.provider.onAttempt = (answer) -> {
			if (attempts.incrementAndGet() > 1) {
				return answer;
			}
			try {
				never.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			throw new LockProviderException(LockError.STORE_FAILED, "scripted", "was interrupted", null);
		};
		CompletableFuture<Throwable> interrupted = new CompletableFuture<>();
		Thread head = new Thread(() -> {
			try {
				this.locks.acquire(LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(30)));
			}
			catch (RuntimeException ex) {
				interrupted.complete(ex);
			}
		});
		head.start();
		await().until(() -> attempts.get() == 1);
		CompletableFuture<@Nullable LockLease> next = CompletableFuture
			.supplyAsync(() -> this.locks.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)));
		await().until(() -> this.locks.snapshot().waiting().size() == 2);
		head.interrupt();
		assertThat(interrupted.get(30, TimeUnit.SECONDS)).isInstanceOf(LockInterruptedException.class);
		// Busy, if the release of the first attempt was not there yet.
		assertThat(next).succeedsWithin(Duration.ofSeconds(30));
	}

	@Test
	@Tag("full")
	void attemptThatTheWaitTimeCutsShortIsNoFailure() {
		this.locks.close();
		this.locks = template(Duration.ofSeconds(2));
		timeOutAfter(new AttemptResult.Busy(Duration.ofMillis(1500), null));
		assertThat(this.locks.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(2)))).isNull();
	}

	@Test
	@Tag("full")
	void attemptThatTheWaitTimeCutsShortTellsTheReasonOfAnEarlierOne() {
		this.locks.close();
		this.locks = template(Duration.ofSeconds(4));
		LockProviderException refused = LockProviderException.nothingSent(LockError.STORE_FAILED, "scripted",
				"refuses connections", null);
		LockProviderException late = new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer",
				null);
		AtomicInteger attempts = new AtomicInteger();
		this.provider.onAttempt = (answer) -> {
			boolean first = attempts.incrementAndGet() == 1;
			// What is left for the second attempt is less than the call time-out.
			delay(Duration.ofMillis(first ? 300 : 3000));
			throw first ? refused : late;
		};
		LockRequest request = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(3));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> this.locks.tryAcquire(request))
			.withMessageContaining("did not answer; an earlier attempt failed: it refuses connections")
			.withCause(refused)
			.satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT);
				assertThat(ex.isEffectUnknown()).isTrue();
				assertThat(ex).hasSuppressedException(late);
			});
	}

	@Test
	@Tag("full")
	void busyAnswerForWhichTheStoreWasNotAskedEndsNoRequest() {
		this.locks.close();
		this.locks = template(Duration.ofSeconds(2));
		timeOutAfter(new AttemptResult.Busy(Duration.ofMillis(1500), null, false));
		LockRequest request = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(2));
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> this.locks.tryAcquire(request))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
	}

	@Test
	void storeIsAskedAtOnceForARequestThatDoesNotWait() throws Exception {
		try (LockLease held = other().acquire(LockRequest.of(KEY))) {
			AtomicInteger attempts = new AtomicInteger();
			this.provider.onAttempt = (answer) -> (attempts.incrementAndGet() == 1)
					? new AttemptResult.Busy(Duration.ofMinutes(1), null, false) : answer;
			Thread head = new Thread(
					() -> this.locks.acquire(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(2))).close());
			head.start();
			await().until(() -> attempts.get() == 1);
			assertThat(this.locks.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO))).isNull();
			assertThat(attempts).hasValue(2);
			held.close();
			head.join();
		}
	}

	/** Answers the first attempt, and lets the next ones time out. */
	private void timeOutAfter(AttemptResult first) {
		AtomicInteger attempts = new AtomicInteger();
		this.provider.onAttempt = (answer) -> {
			if (attempts.incrementAndGet() == 1) {
				return first;
			}
			delay(Duration.ofMillis(700));
			throw new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer", null);
		};
	}

	/** Another process with the same store. */
	private LockTemplate other() {
		return new LockTemplate(this.provider.store, LockSettings.defaults(), this.timer, List.of(), List.of());
	}

	/** Delays an answer; the delay itself is what the test is about. */
	private static void delay(Duration duration) {
		CountDownLatch never = new CountDownLatch(1);
		try {
			assertThat(never.await(duration.toNanos(), TimeUnit.NANOSECONDS)).isFalse();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
