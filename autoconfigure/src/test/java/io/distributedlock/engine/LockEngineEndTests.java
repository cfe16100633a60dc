package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.ObservedEvents;
import io.distributedlock.provider.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The end of an engine, and its start after that.
 */
class LockEngineEndTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockKey LATER = LockKey.of("seats", "13B");

	private final LocalStore store = new LocalStore();

	private final LockTimer timer = new LockTimer();

	private final List<String> outcomes = new CopyOnWriteArrayList<>();

	private final LockTemplate locks = template(new LocalLockProvider(this.store));

	private final LockTemplate other = template(new LocalLockProvider(this.store));

	private LockTemplate template(LocalLockProvider provider) {
		LockObserver observer = new ObservedEvents() {

			@Override
			protected void acquireEnded(LockKey key, AcquireOutcome outcome) {
				LockEngineEndTests.this.outcomes.add(key + " " + outcome);
			}

			@Override
			public void onRenewal(LockKey key, RenewalOutcome outcome) {
				LockEngineEndTests.this.outcomes.add(key + " " + outcome);
			}

		};
		return new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(observer), List.of());
	}

	@AfterEach
	void stop() {
		this.locks.close();
		this.other.close();
		this.timer.close();
	}

	@Test
	void stoppedTemplateLocksAgainAfterItsStart() {
		this.locks.stop(Duration.ZERO);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> this.locks.acquire(LockRequest.of(KEY)))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
		this.locks.start();
		try (LockLease lease = this.locks.acquire(LockRequest.of(KEY).withLease(Duration.ofSeconds(9)))) {
			await().until(() -> this.outcomes.contains(KEY + " RENEWED"));
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void partOfARequestIsReleasedWhenTheEngineStops() throws Exception {
		LockLease busy = this.other.acquire(LockRequest.of(LATER));
		CompletableFuture<Throwable> refused = new CompletableFuture<>();
		Thread waiter = new Thread(() -> {
			try {
				this.locks.acquire(LockRequest.ofAll(List.of(KEY, LATER)).withWaitTime(Duration.ofMinutes(1)));
			}
			catch (RuntimeException ex) {
				refused.complete(ex);
			}
		});
		waiter.start();
		await().until(() -> this.outcomes.contains(KEY + " ACQUIRED"));
		await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
		this.locks.stop(Duration.ZERO);
		assertThat(refused.get(10, TimeUnit.SECONDS)).isInstanceOf(LockProviderException.class);
		try (LockLease free = this.other.acquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO))) {
			assertThat(free.isHeld()).isTrue();
		}
		busy.close();
	}

	@Test
	void refusedRequestIsToldOnceAndLeavesTheWaitQueue() {
		LockLease busy = this.other.acquire(LockRequest.of(KEY));
		CompletableFuture<LockLease> waiting = this.locks
			.acquireAsync(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1)));
		this.locks.stop(Duration.ZERO);
		assertThat(waiting).failsWithin(Duration.ofSeconds(10));
		assertThat(this.outcomes).filteredOn((outcome) -> outcome.endsWith("FAILED")).hasSize(1);
		busy.close();
		// A wait queue that still named the stopped process would reserve the lock for
		// it.
		LockTemplate third = template(new LocalLockProvider(this.store));
		third.acquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)).close();
		third.close();
	}

	@Test
	void unboundedGracePeriodWaitsForTheBody() throws Exception {
		LockLease lease = this.locks.acquire(LockRequest.of(KEY));
		CountDownLatch stopped = new CountDownLatch(1);
		Thread stopping = new Thread(() -> {
			this.locks.stop(Duration.ofSeconds(Long.MAX_VALUE));
			stopped.countDown();
		});
		stopping.start();
		await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		assertThat(lease.isHeld()).isTrue();
		lease.close();
		assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void futureThatItsOwnerCompletesWithdrawsTheRequest() {
		LockLease busy = this.other.acquire(LockRequest.of(KEY));
		CompletableFuture<LockLease> waiting = this.locks
			.acquireAsync(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1)));
		waiting.complete(busy);
		await().until(() -> this.outcomes.contains(KEY + " INTERRUPTED"));
		busy.close();
		// The request leaves the wait queue of the store in the background.
		await().ignoreExceptionsInstanceOf(LockNotAcquiredException.class)
			.untilAsserted(() -> this.other.acquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)).close());
	}

}
