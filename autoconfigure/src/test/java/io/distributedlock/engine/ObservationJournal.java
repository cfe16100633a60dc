package io.distributedlock.engine;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.ObserverScope;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.HoldObserver;
import io.distributedlock.provider.LockObserver;

/**
 * An observer that checks that whatever starts ends exactly once.
 */
final class ObservationJournal implements LockObserver {

	private final Queue<String> violations = new ConcurrentLinkedQueue<>();

	private final AtomicInteger requests = new AtomicInteger();

	private final AtomicInteger openRequests = new AtomicInteger();

	private final AtomicInteger holds = new AtomicInteger();

	private final AtomicInteger openHolds = new AtomicInteger();

	private final AtomicInteger openScopes = new AtomicInteger();

	private final AtomicInteger losses = new AtomicInteger();

	List<String> violations() {
		return List.copyOf(this.violations);
	}

	int requests() {
		return this.requests.get();
	}

	int holds() {
		return this.holds.get();
	}

	int losses() {
		return this.losses.get();
	}

	/** Returns the number of requests, holds and scopes that have not ended. */
	int open() {
		return this.openRequests.get() + this.openHolds.get() + this.openScopes.get();
	}

	@Override
	public AcquireObserver onAcquireStart(LockKey key) {
		this.requests.incrementAndGet();
		this.openRequests.incrementAndGet();
		return new Request(key);
	}

	private void check(boolean condition, String violation) {
		if (!condition) {
			this.violations.add(violation);
		}
	}

	@Override
	public String toString() {
		return this.openRequests + " requests, " + this.openHolds + " holds and " + this.openScopes
				+ " scopes have not ended " + this.violations;
	}

	private final class Request implements AcquireObserver {

		private final LockKey key;

		private final AtomicInteger ends = new AtomicInteger();

		private final AtomicInteger starts = new AtomicInteger();

		Request(LockKey key) {
			this.key = key;
		}

		@Override
		public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
			check(this.ends.incrementAndGet() == 1, "a request for " + this.key + " has ended twice");
			check(failure == null || outcome != AcquireOutcome.ACQUIRED, "a request has failed with its lock");
			ObservationJournal.this.openRequests.decrementAndGet();
		}

		@Override
		public HoldObserver onHoldStart(FencingToken token) {
			check(this.starts.incrementAndGet() == 1, "a request for " + this.key + " has got two holds");
			ObservationJournal.this.holds.incrementAndGet();
			ObservationJournal.this.openHolds.incrementAndGet();
			return new Held(this.key);
		}

		@Override
		public AcquireObserver onNextKey(LockKey next) {
			check(this.ends.get() == 1, "a request goes on with " + next + " before it has " + this.key);
			return onAcquireStart(next);
		}

	}

	private final class Held implements HoldObserver {

		private final LockKey key;

		private final AtomicInteger ends = new AtomicInteger();

		Held(LockKey key) {
			this.key = key;
		}

		@Override
		public void onEnd(@Nullable LossReason loss) {
			check(this.ends.incrementAndGet() == 1, "a hold of " + this.key + " has ended twice");
			ObservationJournal.this.openHolds.decrementAndGet();
			if (loss != null) {
				ObservationJournal.this.losses.incrementAndGet();
			}
		}

		@Override
		public ObserverScope openScope() {
			Thread thread = Thread.currentThread();
			ObservationJournal.this.openScopes.incrementAndGet();
			return () -> {
				check(thread == Thread.currentThread(), "a scope is closed by another thread");
				ObservationJournal.this.openScopes.decrementAndGet();
			};
		}

	}

}
