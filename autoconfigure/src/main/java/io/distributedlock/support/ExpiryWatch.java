package io.distributedlock.support;

import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.Term;

/**
 * Tells losses at their deadline, though nobody looks: one alarm for all held locks, at
 * the earliest deadline. Without it, {@code isHeld()} still judges by the deadline.
 */
final class ExpiryWatch {

	private final LockEngine engine;

	private final DeadlineTimer alarm;

	/** One instance, so that a term keeps it once; the timer looks, not who told. */
	private final Runnable shortened;

	ExpiryWatch(LockEngine engine, LockTimer timer) {
		this.engine = engine;
		this.alarm = new DeadlineTimer(timer, this::look);
		this.shortened = () -> this.alarm.setAt(System.nanoTime());
	}

	void watch(HeldGrant heldGrant) {
		Term term = heldGrant.grant().term();
		if (term != null) {
			term.onShortened(this.shortened);
		}
		this.alarm.setAt(heldGrant.deadline());
	}

	private void look() {
		for (SingleKeyLease lease : this.engine.held()) {
			if (lease.isHeld()) {
				this.alarm.setAt(lease.heldGrant().deadline());
			}
		}
	}

}
