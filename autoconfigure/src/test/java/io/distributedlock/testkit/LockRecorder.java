package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockMode;
import io.distributedlock.LossReason;
import io.distributedlock.provider.AcquireObserver;
import io.distributedlock.provider.AcquireOutcome;
import io.distributedlock.provider.HoldObserver;
import io.distributedlock.provider.LockObserver;

/**
 * Listener and observer that records its calls.
 */
class LockRecorder implements LockListener, LockObserver {

	private final Queue<String> events = new ConcurrentLinkedQueue<>();

	Queue<String> events() {
		return this.events;
	}

	@Override
	public void onAcquired(LockLease lease) {
		this.events.add("acquired");
	}

	@Override
	public void onBusy(LockKey key, LockMode mode, Duration waited, @Nullable LockHolder holder) {
		this.events.add("busy");
	}

	@Override
	public void onLost(LockLease lease, LossReason reason) {
		this.events.add("lost " + reason);
	}

	@Override
	public void onReleased(LockLease lease) {
		this.events.add("released");
	}

	@Override
	public AcquireObserver onAcquireStart(LockKey key) {
		return new RequestRecorder();
	}

	/** Records the start of a hold. */
	void holdStarted() {
		this.events.add("observed hold");
	}

	@Override
	public void onLost(LockKey key, LossReason reason) {
		this.events.add("observed loss " + reason);
	}

	/** Recorder of one request and its hold. */
	private final class RequestRecorder implements AcquireObserver, HoldObserver {

		@Override
		public void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
			LockRecorder.this.events.add("observed " + outcome);
		}

		@Override
		public AcquireObserver onNextKey(LockKey next) {
			return new RequestRecorder();
		}

		@Override
		public HoldObserver onHoldStart(FencingToken token) {
			holdStarted();
			return this;
		}

		@Override
		public void onEnd(@Nullable LossReason loss) {
			LockRecorder.this.events.add("observed end");
		}

	}

}
