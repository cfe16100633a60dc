package io.distributedlock.support;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProvider;

/**
 * Tells losses at their deadline, though nobody looks: one pending signal of the timer
 * for all held locks, at the earliest deadline.
 */
final class LossWatch {

	private final LockEngine engine;

	private final LockTimer timer;

	/** One instance, so that a term keeps it once. */
	private final Runnable shortened = this::lookNow;

	private final long origin = System.nanoTime();

	private final ReentrantLock lock = new ReentrantLock();

	/** When the next look is due, counted from the origin; written under the lock. */
	private volatile long nextLook = Long.MAX_VALUE;

	private @Nullable Future<?> pending;

	LossWatch(LockEngine engine, LockTimer timer) {
		this.engine = engine;
		this.timer = timer;
	}

	void watch(Tenure tenure) {
		LockProvider.Term term = tenure.grant().term();
		if (term != null) {
			term.onShortened(this.shortened);
		}
		lookAt(tenure.deadline() - this.origin);
	}

	/** The timer looks, not who told. */
	private void lookNow() {
		lookAt(System.nanoTime() - this.origin);
	}

	private void lookAt(long instant) {
		if (instant >= this.nextLook) {
			return;
		}
		this.lock.lock();
		try {
			if (instant < this.nextLook) {
				if (this.pending != null) {
					this.pending.cancel(false);
				}
				this.nextLook = instant;
				this.pending = this.timer.schedule(() -> look(instant),
						Duration.ofNanos(instant - (System.nanoTime() - this.origin) + 1));
			}
		}
		catch (RejectedExecutionException ex) {
			// The timer has ended with the application; isHeld() still judges by the
			// deadline.
			this.nextLook = Long.MIN_VALUE;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A look that was brought forward meanwhile finds another instant and does nothing.
	 */
	private void look(long instant) {
		if (!begin(instant)) {
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

	private boolean begin(long instant) {
		this.lock.lock();
		try {
			boolean current = this.nextLook == instant;
			if (current) {
				this.nextLook = Long.MAX_VALUE;
			}
			return current;
		}
		finally {
			this.lock.unlock();
		}
	}

}
