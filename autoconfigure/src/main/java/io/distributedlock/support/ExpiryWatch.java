package io.distributedlock.support;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.DeadlineTimer;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.SessionDeadline;

/**
 * A watch that reports a loss at the deadline even if the application does not check: one
 * timer for all held locks, set to the earliest deadline. {@code isHeld()} does not
 * depend on it.
 */
final class ExpiryWatch {

	private final LockEngine engine;

	private final DeadlineTimer deadlineTimer;

	/**
	 * A single instance, so that a session keeps it once. The check runs on the timer.
	 */
	private final Runnable shortened;

	ExpiryWatch(LockEngine engine, LockTimer timer) {
		this.engine = engine;
		this.deadlineTimer = new DeadlineTimer(timer, this::check);
		this.shortened = () -> this.deadlineTimer.setAt(Deadline.now());
	}

	void watch(HeldGrant heldGrant) {
		SessionDeadline session = heldGrant.grant().sessionDeadline();
		if (session != null) {
			session.onShortened(this.shortened);
		}
		this.deadlineTimer.setAt(new Deadline(heldGrant.deadlineNanos()));
	}

	private void check() {
		for (SingleKeyLease lease : this.engine.held()) {
			if (lease.isHeld()) {
				this.deadlineTimer.setAt(new Deadline(lease.heldGrant().deadlineNanos()));
			}
		}
	}

}
