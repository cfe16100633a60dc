package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Tests that observers are told one start and one end of each request and each hold,
 * whatever becomes of them.
 */
class ObservedLocksTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private static final LockKey LATER = LockKey.of("seats", "13B");

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private final ObservationJournal journal = new ObservationJournal();

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(new LocalStore()),
			LockSettings.defaults(), this.timer, List.of(this.journal), List.of());

	@AfterEach
	void close() {
		this.locks.close();
		this.timer.close();
	}

	private void checkJournal() {
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(this.journal.open()).isZero());
		assertThat(this.journal.violations()).isEmpty();
	}

	@Test
	void scopeIsClosedAfterABodyThatFails() {
		for (Throwable failure : List.of(new IllegalStateException("body"), new StackOverflowError("body"))) {
			assertThat(catchThrowable(() -> this.locks.execute(REQUEST, (lease) -> {
				assertThat(this.journal.open()).isEqualTo(2);
				throw failure;
			}))).isSameAs(failure);
			assertThat(catchThrowable(() -> this.locks.executeAsync(REQUEST, (lease) -> {
				assertThat(this.journal.open()).isEqualTo(2);
				throw failure;
			}))).isSameAs(failure);
		}
		checkJournal();
	}

	@Test
	void joinedCallIsNotObserved() {
		this.locks.execute(REQUEST, (lease) -> this.locks.execute(REQUEST, (inner) -> this.journal.open()));
		assertThat(this.journal.requests()).isEqualTo(1);
		checkJournal();
	}

	@Test
	void everyKeyOfARequestIsObserved() {
		this.locks.execute(LockRequest.ofAll(List.of(KEY, LATER)), (lease) -> {
			assertThat(this.journal.open()).isEqualTo(4);
			return null;
		});
		assertThat(this.journal.requests()).isEqualTo(2);
		assertThat(this.journal.holds()).isEqualTo(2);
		checkJournal();
	}

	@Test
	void requestThatIsNotGrantedEnds() throws Exception {
		this.locks.execute(REQUEST, (lease) -> {
			LockRequest impatient = REQUEST.withWaitTime(Duration.ZERO);
			CompletableFuture<?> busy = CompletableFuture.runAsync(() -> this.locks.tryAcquire(impatient));
			busy.get(1, TimeUnit.MINUTES);
			CompletableFuture<?> cancelled = CompletableFuture
				.supplyAsync(() -> this.locks.acquireAsync(REQUEST, List.of()))
				.get(1, TimeUnit.MINUTES);
			cancelled.cancel(false);
			return null;
		});
		this.locks.beginStop();
		assertThat(catchThrowable(() -> this.locks.acquire(REQUEST))).isInstanceOf(LockException.class);
		assertThat(this.journal.requests()).isEqualTo(4);
		checkJournal();
	}

	@Test
	void manyThreadsLeaveNothingOpen() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(8);
		List<Future<?>> work = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			work.add(threads.submit(() -> {
				for (int round = 0; round < 400; round++) {
					lockSomehow(ThreadLocalRandom.current().nextInt(8));
				}
			}));
		}
		for (Future<?> part : work) {
			part.get(2, TimeUnit.MINUTES);
		}
		threads.shutdown();
		checkJournal();
		assertThat(this.journal.holds()).isPositive();
	}

	private void acquireAndCancel(LockRequest request) {
		CompletableFuture<LockLease> future = this.locks.acquireAsync(request, List.of());
		if (!future.cancel(false) && !future.isCompletedExceptionally()) {
			future.join().close();
		}
	}

	private void lockSomehow(int way) {
		LockRequest request = (way < 2) ? LockRequest.ofAll(List.of(KEY, LATER)) : REQUEST;
		try {
			switch (way) {
				case 0, 2, 3 -> this.locks.execute(request, (lease) -> Thread.interrupted());
				case 1, 4 -> acquireAndCancel(request);
				case 5 -> this.locks.acquire(request.withWaitTime(Duration.ofMillis(1))).close();
				case 6 -> this.locks.forceRelease(KEY);
				default -> {
					Thread.currentThread().interrupt();
					this.locks.acquire(request).close();
				}
			}
		}
		catch (LockException ex) {
			// The lock was busy, lost, or the thread interrupted.
		}
		Thread.interrupted();
	}

}
