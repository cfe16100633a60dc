package io.distributedlock.support;

import io.distributedlock.LockProvider;

/**
 * Tells losses at their deadline, though nobody looks: one alarm for all held locks, at
 * the earliest deadline. Without it, {@code isHeld()} still judges by the deadline.
 */
final class LossWatch {

	private final LockEngine engine;

	private final Alarm alarm;

	/** One instance, so that a term keeps it once; the timer looks, not who told. */
	private final Runnable shortened;

	LossWatch(LockEngine engine, LockTimer timer) {
		this.engine = engine;
		this.alarm = new Alarm(timer, this::look);
		this.shortened = () -> this.alarm.setAt(System.nanoTime());
	}

	void watch(Tenure tenure) {
		LockProvider.Term term = tenure.grant().term();
		if (term != null) {
			term.onShortened(this.shortened);
		}
		this.alarm.setAt(tenure.deadline());
	}

	private void look() {
		for (TenureLease lease : this.engine.held()) {
			if (lease.isHeld()) {
				this.alarm.setAt(lease.tenure().deadline());
			}
		}
	}

}
