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
 * Writes down what a listener and an observer are told.
 */
class LockRecorder implements LockListener, LockObserver {

	private final Queue<String> told = new ConcurrentLinkedQueue<>();

	Queue<String> told() {
		return this.told;
	}

	@Override
	public void onAcquired(LockLease lease) {
		this.told.add("acquired");
	}

	@Override
	public void onBusy(LockKey key, Duration waited, @Nullable LockHolder holder) {
		this.told.add("busy");
	}

	@Override
	public void onLost(LockLease lease, LossReason reason) {
		this.told.add("lost " + reason);
	}

	@Override
	public void onReleased(LockLease lease) {
		this.told.add("released");
	}

	@Override
	public void onAcquireEnd(LockKey key, AcquireOutcome outcome, Duration took) {
		this.told.add("observed " + outcome);
	}

	@Override
	public void onHoldStart(LockKey key) {
		this.told.add("observed hold");
	}

	@Override
	public void onHoldEnd(LockKey key) {
		this.told.add("observed end");
	}

	@Override
	public void onLost(LockKey key, LossReason reason) {
		this.told.add("observed loss " + reason);
	}

}
