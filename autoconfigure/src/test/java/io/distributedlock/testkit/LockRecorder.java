package io.distributedlock.testkit;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LossReason;
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
	public void onBusy(LockKey key, Duration waited, @Nullable LockHolder holder) {
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
	public void onAcquireEnd(LockKey key, AcquireOutcome outcome, Duration took) {
		this.events.add("observed " + outcome);
	}

	@Override
	public void onHoldStart(LockKey key) {
		this.events.add("observed hold");
	}

	@Override
	public void onHoldEnd(LockKey key) {
		this.events.add("observed end");
	}

	@Override
	public void onLost(LockKey key, LossReason reason) {
		this.events.add("observed loss " + reason);
	}

}
