package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Rings at the earliest instant that it was set to, and is not set any more then: one
 * pending signal of the timer for any number of deadlines. Silent once the timer has
 * ended. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class DeadlineTimer {

	private final LockTimer timer;

	private final Runnable ring;

	private final long origin = System.nanoTime();

	private final ReentrantLock lock = new ReentrantLock();

	/** When it rings next, counted from the origin; written under the lock. */
	private volatile long next = Long.MAX_VALUE;

	private @Nullable Future<?> pending;

	/**
	 * Creates an alarm that is not set.
	 * @param timer brings the signal
	 * @param ring what to run; quick, without I/O
	 */
	public DeadlineTimer(LockTimer timer, Runnable ring) {
		this.timer = timer;
		this.ring = ring;
	}

	/**
	 * Sets the alarm, unless it rings earlier anyway.
	 * @param instant as {@link System#nanoTime()} counts; rings soon if it is past
	 */
	public void setAt(long instant) {
		long asked = instant - this.origin;
		if (asked >= this.next) {
			return;
		}
		this.lock.lock();
		try {
			if (asked < this.next) {
				if (this.pending != null) {
					this.pending.cancel(false);
				}
				this.next = asked;
				this.pending = this.timer.schedule(() -> ring(asked),
						Duration.ofNanos(asked - (System.nanoTime() - this.origin) + 1));
			}
		}
		catch (RejectedExecutionException ex) {
			// The timer has ended with the application: nothing is to be told any more.
			this.next = Long.MIN_VALUE;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A signal that was brought forward meanwhile finds another instant: it is late. */
	private void ring(long asked) {
		this.lock.lock();
		try {
			if (this.next != asked) {
				return;
			}
			this.next = Long.MAX_VALUE;
		}
		finally {
			this.lock.unlock();
		}
		this.ring.run();
	}

}
