package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells losses at their deadline, though nobody looks: one pending signal of the timer
 * for all held locks, at the earliest deadline.
 */
final class LossWatch {

	private final LockEngine engine;

	private final LockTimer timer;

	private final long origin = System.nanoTime();

	/** When the next look is due, counted from the origin. */
	private final AtomicLong nextLook = new AtomicLong(Long.MAX_VALUE);

	LossWatch(LockEngine engine, LockTimer timer) {
		this.engine = engine;
		this.timer = timer;
	}

	void watch(Tenure tenure) {
		lookAt(tenure.deadline() - this.origin);
	}

	private void lookAt(long instant) {
		long next = this.nextLook.get();
		while (instant < next) {
			if (this.nextLook.compareAndSet(next, instant)) {
				schedule(instant);
				return;
			}
			next = this.nextLook.get();
		}
	}

	private void schedule(long instant) {
		try {
			this.timer.schedule(() -> look(instant), Duration.ofNanos(instant - (System.nanoTime() - this.origin) + 1));
		}
		catch (RejectedExecutionException ex) {
			// The timer has ended with the application; isHeld() still judges by the
			// deadline.
			this.nextLook.set(Long.MIN_VALUE);
		}
	}

	/**
	 * A look that was brought forward meanwhile finds another instant and does nothing.
	 */
	private void look(long instant) {
		if (!this.nextLook.compareAndSet(instant, Long.MAX_VALUE)) {
			return;
		}
		long earliest = Long.MAX_VALUE;
		for (TenureLease lease : this.engine.held()) {
			if (lease.isHeld()) {
				earliest = Math.min(earliest, lease.tenure().deadline() - this.origin);
			}
		}
		if (earliest != Long.MAX_VALUE) {
			lookAt(earliest);
		}
	}

}
