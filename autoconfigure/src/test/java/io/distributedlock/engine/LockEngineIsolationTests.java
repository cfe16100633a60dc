package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.engine.grant.EarlyRenewals;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * One lock, one node or one callback that hangs holds up nothing else.
 */
@Tag("full")
class LockEngineIsolationTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockKey SLOW = LockKey.of("seats", "slow");

	private final ScriptedLockProvider provider = new ScriptedLockProvider(true);

	private final LockTimer timer = new LockTimer();

	private final CountDownLatch mayGoOn = new CountDownLatch(1);

	private final List<LockTemplate> templates = new ArrayList<>();

	@AfterEach
	void stop() {
		this.mayGoOn.countDown();
		this.templates.forEach(LockTemplate::close);
		this.timer.close();
	}

	private LockTemplate template(LockSettings settings, LockObserver observer, LockListener listener) {
		LockTemplate template = new LockTemplate(this.provider, settings, this.timer, List.of(observer),
				List.of(listener));
		this.templates.add(template);
		return template;
	}

	private LockTemplate template(LockSettings settings) {
		return template(settings, new LockObserver() {
		}, new LockListener() {
		});
	}

	private LockTemplate template() {
		return template(LockSettings.defaults());
	}

	@Test
	void renewalThatHangsDelaysNoOtherRenewal() {
		AtomicInteger hung = new AtomicInteger();
		this.provider.onRenew = (leases, timeout) -> {
			if (leases.keySet().stream().anyMatch((grant) -> grant.key().equals(SLOW))) {
				hung.incrementAndGet();
				waitFor(timeout);
				throw new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer", null);
			}
			return null;
		};
		LockTemplate locks = template(
				EarlyRenewals.after(0.05, LockSettings.defaults().withCallTimeout(Duration.ofSeconds(5))));
		LockLease slow = locks.acquire(LockRequest.of(SLOW).withLease(Duration.ofSeconds(30)));
		LockLease healthy = locks.acquire(LockRequest.of(KEY).withLease(Duration.ofSeconds(4)));
		await().during(Duration.ofSeconds(7)).atMost(Duration.ofSeconds(20)).until(healthy::isHeld);
		assertThat(hung).hasPositiveValue();
		healthy.close();
		slow.close();
	}

	@Test
	void pendingReleasesThatHangDelayNoOther() {
		AtomicInteger hung = new AtomicInteger();
		this.provider.onRelease = (owner) -> {
			int number = this.provider.attempts.indexOf(owner);
			if (number < 0 || number >= 20) {
				return null;
			}
			hung.incrementAndGet();
			waitFor(Duration.ofSeconds(1));
			return ReleaseOutcome.UNKNOWN;
		};
		this.provider.onAttempt = (answer) -> {
			throw new IllegalStateException("cut");
		};
		LockTemplate locks = template();
		for (int i = 0; i < 20; i++) {
			LockKey key = LockKey.of("slow", Integer.toString(i));
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> locks.acquire(LockRequest.of(key)));
		}
		this.provider.onAttempt = null;
		await().until(() -> hung.get() > 0);
		LockTemplate other = template();
		LockKey busy = LockKey.of("seats", "z");
		LockLease held = other.acquire(LockRequest.of(busy));
		assertThat(locks.tryAcquire(LockRequest.ofAll(List.of(KEY, busy)).withWaitTime(Duration.ZERO))).isNull();
		try (LockLease again = other.acquire(LockRequest.of(KEY).withWaitTime(TimeBounds.withLoad(2000)))) {
			assertThat(again.isHeld()).isTrue();
		}
		held.close();
	}

	@Test
	void blockedCallbacksSilenceNoLoss() {
		AtomicReference<LockKey> observed = new AtomicReference<>();
		LockTemplate locks = template(LockSettings.defaults(), new LockObserver() {

			@Override
			public void onLost(LockKey key, LossReason reason) {
				observed.set(key);
			}

		}, new LockListener() {

			@Override
			public void onReleased(LockLease lease) {
				LockEngineIsolationTests.this.waitForEnd();
			}

		});
		List<LockLease> lost = IntStream.range(0, 12)
			.mapToObj((number) -> locks.acquire(LockRequest.of(LockKey.of("blocked", Integer.toString(number)))
				.withLease(Duration.ofMillis(500))
				.withoutRenewal()))
			.toList();
		lost.forEach((lease) -> lease.onLost(this::waitForEnd));
		IntStream.range(0, 12)
			.forEach((number) -> locks.acquire(LockRequest.of(LockKey.of("listened", Integer.toString(number))))
				.close());
		await().until(() -> lost.stream().noneMatch(LockLease::isHeld));
		AtomicBoolean told = new AtomicBoolean();
		LockLease last = locks.acquire(LockRequest.of(KEY).withLease(Duration.ofMillis(500)).withoutRenewal());
		last.onLost(() -> told.set(true));
		await().atMost(Duration.ofSeconds(10)).untilTrue(told);
		await().atMost(Duration.ofSeconds(10)).until(() -> KEY.equals(observed.get()));
	}

	@Test
	void grantWhoseFutureFindsNoThreadIsReleased() {
		CallbackThreads callbacks = new CallbackThreads(this.timer);
		IntStream.range(0, 8).forEach((number) -> callbacks.executor(Work.CALLBACKS).execute(this::waitForEnd));
		LockTemplate locks = new LockTemplate(this.provider, LockSettings.defaults(), this.timer, callbacks, List.of(),
				List.of(), EnclosingTransaction.NONE);
		this.templates.add(locks);
		CompletableFuture<LockLease> late = locks.acquireAsync(LockRequest.of(KEY));
		await().until(() -> this.provider.attempts.size() == 1);
		LockTemplate other = template();
		other.acquire(LockRequest.of(KEY).withWaitTime(TimeBounds.withLoad(5000))).close();
		this.mayGoOn.countDown();
		assertThat(late).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.withCauseInstanceOf(LockProviderException.class)
			.withMessageContaining("distributed-lock-callback");
		callbacks.close();
	}

	@Test
	void keysThatHangLeaveThreadsForRequestsWithoutOne() {
		int hanging = this.provider.concurrentCalls() - 2;
		AtomicInteger hung = new AtomicInteger();
		this.provider.onAttemptFor = (key) -> {
			if (key.name().startsWith("slow")) {
				hung.incrementAndGet();
				waitForEnd();
			}
		};
		LockTemplate locks = template();
		IntStream.range(0, hanging)
			.forEach((number) -> locks.acquireAsync(LockRequest.of(LockKey.of("slow", Integer.toString(number)))));
		await().until(() -> hung.get() == hanging);
		List<CompletableFuture<LockLease>> healthy = IntStream.range(0, 20)
			.mapToObj((number) -> locks.acquireAsync(LockRequest.of(LockKey.of("seats", Integer.toString(number)))))
			.toList();
		assertThat(healthy).allSatisfy((future) -> assertThat(future).succeedsWithin(Duration.ofSeconds(30)));
		assertThat(hung).hasValue(hanging);
	}

	@Test
	void requestThatFindsNoThreadIsToldThatTheStoreWasNotAsked() {
		this.provider.onAttemptFor = (key) -> waitForEnd();
		LockTemplate locks = template(LockSettings.defaults().withCallTimeout(Duration.ofMillis(100)));
		IntStream.range(0, this.provider.concurrentCalls())
			.forEach((number) -> locks.acquireAsync(LockRequest.of(LockKey.of("slow", Integer.toString(number)))));
		assertThat(locks.acquireAsync(LockRequest.of(KEY).withWaitTime(Duration.ZERO)))
			.failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockProviderException.class)
			.withMessageContaining("DL-302")
			.withMessageContaining("was not asked whether lock 'seats:13A' is free")
			.withMessageContaining("'distributed-lock-scripted-io-attempt'");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void asynchronousRequestsOfAFrozenStoreEndInTime(boolean sameKey) {
		this.provider.onAttempt = (answer) -> {
			waitFor(Duration.ofSeconds(1));
			throw new LockProviderException(LockError.STORE_TIMEOUT, "scripted", "did not answer", null);
		};
		LockTemplate locks = template();
		List<CompletableFuture<LockLease>> waiting = IntStream.range(0, 16)
			.mapToObj((number) -> locks
				.acquireAsync(LockRequest.of(sameKey ? SLOW : LockKey.of("slow", Integer.toString(number)))))
			.toList();
		long start = System.nanoTime();
		CompletableFuture<LockLease> last = locks.acquireAsync(LockRequest.of(KEY).withWaitTime(Duration.ZERO));
		assertThat(last).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockProviderException.class);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(1250));
		waiting.forEach((future) -> future.cancel(true));
	}

	private void waitForEnd() {
		try {
			assertThat(this.mayGoOn.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Delays an answer, at the end of the test no longer. */
	private void waitFor(Duration duration) {
		try {
			this.mayGoOn.await(duration.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
