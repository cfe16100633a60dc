package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * A timer for the earliest of many deadlines, with one pending signal for all of them. It
 * runs its signal once and has to be set again after that. It does nothing once the
 * {@link LockTimer} is closed. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class DeadlineTimer {

	private final LockTimer timer;

	private final Runnable signal;

	private final long originNanos = System.nanoTime();

	private final ReentrantLock lock = new ReentrantLock();

	/** The next signal, counted from the origin; written under the lock. */
	private volatile long nextNanos = Long.MAX_VALUE;

	private @Nullable Future<?> pending;

	/**
	 * Creates a timer that is not set.
	 * @param timer the timer that runs the signal
	 * @param signal what to run; quick, without I/O
	 */
	public DeadlineTimer(LockTimer timer, Runnable signal) {
		this.timer = timer;
		this.signal = signal;
	}

	/**
	 * Sets the timer, unless it is set to an earlier deadline.
	 * @param deadlineNanos the deadline by {@link System#nanoTime()}; the signal runs
	 * soon if it has passed
	 */
	public void setAt(long deadlineNanos) {
		long requested = deadlineNanos - this.originNanos;
		if (requested >= this.nextNanos) {
			return;
		}
		this.lock.lock();
		try {
			if (requested < this.nextNanos) {
				if (this.pending != null) {
					this.pending.cancel(false);
				}
				this.nextNanos = requested;
				this.pending = this.timer.schedule(() -> expire(requested),
						Duration.ofNanos(requested - (System.nanoTime() - this.originNanos) + 1));
			}
		}
		catch (RejectedExecutionException ex) {
			// The timer was closed with the application: no further signal is needed.
			this.nextNanos = Long.MIN_VALUE;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Runs the signal, unless an earlier deadline has replaced this one meanwhile. */
	private void expire(long requested) {
		this.lock.lock();
		try {
			if (this.nextNanos != requested) {
				return;
			}
			this.nextNanos = Long.MAX_VALUE;
		}
		finally {
			this.lock.unlock();
		}
		this.signal.run();
	}

}
