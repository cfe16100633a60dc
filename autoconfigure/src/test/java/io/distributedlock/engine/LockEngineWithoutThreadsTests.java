package io.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.event.LockEventPublisher;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.engine.queue.CallbackRunner;
import io.distributedlock.provider.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine whose JVM cannot create a thread: each request ends, and nothing remains once
 * there are threads again.
 */
class LockEngineWithoutThreadsTests {

	private static final LockKey KEY = LockKey.of("seats", "13A");

	private final StarvedEnvironment environment = new StarvedEnvironment();

	private final ManualProvider provider = new ManualProvider(true);

	private final LockEngine engine = new LockEngine(this.provider, LockSettings.defaults(), this.environment,
			new LockEventPublisher(this.environment, List.of(), List.of()), EnclosingTransaction.NONE, () -> {
			});

	private CompletableFuture<LockLease> acquireAsync(Duration waitTime) {
		LockRequest request = LockRequest.of(KEY).withWaitTime(waitTime);
		return new CallbackRunner(this.engine.context(),
				(runner) -> this.engine.request(request.keys(), request, runner))
			.begin();
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT5S" })
	void futureEndsAndItsLockIsReleasedLater(Duration waitTime) {
		this.environment.starved = true;
		CompletableFuture<LockLease> future = acquireAsync(waitTime);
		this.environment.advance(Duration.ofSeconds(7));
		assertThat(future).isCompletedExceptionally();
		assertThat(future).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(LockProviderException.class)
			.withMessageContaining("distributed-lock-callback");
		assertThat(this.provider.isHeld()).isTrue();
		this.environment.starved = false;
		this.environment.advance(Duration.ofSeconds(2));
		assertNothingRemains();
	}

	@Test
	void manyPendingReleasesWaitForThreads() {
		this.environment.starved = true;
		for (int i = 0; i < 5000; i++) {
			this.engine.context()
				.pendingReleases()
				.release(KEY, this.environment.newOwnerId(), Duration.ofSeconds(3), true);
		}
		this.environment.advance(Duration.ofSeconds(2));
		assertThat(this.engine.context().pendingReleases().size()).isEqualTo(5000);
		this.environment.starved = false;
		this.environment.advance(Duration.ofSeconds(60));
		assertNothingRemains();
	}

	@Test
	void lossIsReportedAllTheSame() {
		CompletableFuture<LockLease> future = acquireAsync(Duration.ofSeconds(5));
		this.environment.advance(Duration.ofMillis(1));
		LockLease lease = future.join();
		this.environment.starved = true;
		// No renewal can be sent.
		this.environment.advance(Duration.ofSeconds(40));
		assertThat(lease.lossReason()).isEqualTo(LossReason.EXPIRED);
		this.environment.starved = false;
		lease.close();
		this.environment.advance(Duration.ofSeconds(2));
		assertThat(this.engine.context().heldGrants().isEmpty()).isTrue();
	}

	private void assertNothingRemains() {
		assertThat(this.provider.isHeld()).isFalse();
		assertThat(this.engine.queueCount()).isZero();
		assertThat(this.engine.context().heldGrants().isEmpty()).isTrue();
		assertThat(this.engine.context().pendingReleases().size()).isZero();
	}

	/** An environment without threads, whose clock and timer the test moves. */
	private static final class StarvedEnvironment implements EngineEnvironment {

		private final PriorityQueue<Signal> signals = new PriorityQueue<>(Comparator.comparingLong(Signal::atNanos));

		private final Queue<Runnable> tasks = new ArrayDeque<>();

		private long now;

		private long owners;

		private boolean starved;

		@Override
		public long nanoTime() {
			return this.now;
		}

		@Override
		public Runnable schedule(Runnable signal, long delayNanos) {
			Signal scheduled = new Signal(this.now + Math.max(1, delayNanos), signal);
			this.signals.add(scheduled);
			return () -> this.signals.remove(scheduled);
		}

		@Override
		public OwnerId newOwnerId() {
			return new OwnerId(0, ++this.owners);
		}

		@Override
		public double nextDouble() {
			return 0.5;
		}

		@Override
		public Executor executor(Work work) {
			return (task) -> {
				if (this.starved) {
					throw new OutOfMemoryError("unable to create native thread");
				}
				this.tasks.add(task);
			};
		}

		/** Lets time pass: runs what is due, and what follows from it. */
		void advance(Duration duration) {
			long end = this.now + duration.toNanos();
			runTasks();
			while (!this.signals.isEmpty() && this.signals.element().atNanos() <= end) {
				Signal next = this.signals.remove();
				this.now = Math.max(this.now, next.atNanos());
				next.action().run();
				runTasks();
			}
			this.now = end;
		}

		private void runTasks() {
			for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
				task.run();
			}
		}

		private record Signal(long atNanos, Runnable action) {
		}

	}

}
