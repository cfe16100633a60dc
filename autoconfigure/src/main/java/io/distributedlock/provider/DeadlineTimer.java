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

	private final ReentrantLock lock = new ReentrantLock();

	/** When the signal runs next; written under the lock. */
	private volatile @Nullable Deadline next;

	private volatile boolean closed;

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
	 * @param deadline the deadline; the signal runs soon if it has passed
	 */
	public void setAt(Deadline deadline) {
		if (!isEarliest(deadline)) {
			return;
		}
		this.lock.lock();
		try {
			if (isEarliest(deadline)) {
				if (this.pending != null) {
					this.pending.cancel(false);
				}
				this.next = deadline;
				this.pending = this.timer.schedule(() -> expire(deadline),
						Duration.ofNanos(deadline.remainingNanos() + 1));
			}
		}
		catch (RejectedExecutionException ex) {
			// The timer was closed with the application: no further signal is needed.
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isEarliest(Deadline deadline) {
		Deadline present = this.next;
		return !this.closed && (present == null || deadline.isBefore(present));
	}

	/** Runs the signal, unless an earlier deadline has replaced this one meanwhile. */
	@SuppressWarnings("ReferenceEquality") // one that was set later may be equal
	private void expire(Deadline deadline) {
		this.lock.lock();
		try {
			if (this.next != deadline) {
				return;
			}
			this.next = null;
		}
		finally {
			this.lock.unlock();
		}
		this.signal.run();
	}

}
