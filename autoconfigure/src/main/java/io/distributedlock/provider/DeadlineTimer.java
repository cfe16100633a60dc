package io.distributedlock.provider;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A timer for the earliest of many deadlines, with one pending signal for all of them. It
 * runs its signal once and has to be set again after that. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class DeadlineTimer {

	private final LongSupplier clock;

	private final Scheduler scheduler;

	private final Runnable signal;

	private final ReentrantLock lock = new ReentrantLock();

	/** The next signal; written under the lock. */
	private volatile @Nullable Pending next;

	/**
	 * Creates a timer that is not set.
	 * @param timer the timer that runs the signal, until it is closed
	 * @param signal what to run; quick, without I/O
	 */
	public DeadlineTimer(LockTimer timer, Runnable signal) {
		this(System::nanoTime, timer::scheduleIfOpen, signal);
	}

	/**
	 * Creates a timer that is not set.
	 * @param clock the clock that the deadlines are instants of
	 * @param scheduler runs the signal after a delay
	 * @param signal what to run; quick, without I/O
	 */
	public DeadlineTimer(LongSupplier clock, Scheduler scheduler, Runnable signal) {
		this.clock = clock;
		this.scheduler = scheduler;
		this.signal = signal;
	}

	/**
	 * Sets the timer, unless it is set to an earlier deadline.
	 * @param deadline the deadline; the signal runs soon if it has passed
	 */
	public void setAt(Deadline deadline) {
		setAt(deadline.nanos());
	}

	/**
	 * Sets the timer, unless it is set to an earlier instant.
	 * @param instantNanos the instant by the clock; the signal runs soon if it has passed
	 */
	public void setAt(long instantNanos) {
		if (!isEarliest(instantNanos)) {
			return;
		}
		this.lock.lock();
		try {
			if (isEarliest(instantNanos)) {
				Pending earlier = new Pending(instantNanos);
				Runnable cancellation = this.scheduler.schedule(() -> expire(earlier),
						instantNanos - this.clock.getAsLong() + 1);
				if (this.next != null) {
					this.next.cancellation.run();
				}
				earlier.cancellation = cancellation;
				this.next = earlier;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isEarliest(long instantNanos) {
		Pending present = this.next;
		return present == null || instantNanos - present.instantNanos < 0;
	}

	/** Runs the signal, unless an earlier one has replaced this one meanwhile. */
	private void expire(Pending due) {
		this.lock.lock();
		try {
			if (this.next != due) {
				return;
			}
			this.next = null;
		}
		finally {
			this.lock.unlock();
		}
		this.signal.run();
	}

	private static final class Pending {

		private final long instantNanos;

		private Runnable cancellation = () -> {
		};

		private Pending(long instantNanos) {
			this.instantNanos = instantNanos;
		}

	}

	/** Runs tasks after a delay. */
	@FunctionalInterface
	public interface Scheduler {

		/**
		 * Runs a task after a delay.
		 * @param task what to run
		 * @param delayNanos the delay, at once if not positive
		 * @return cancels the task
		 */
		Runnable schedule(Runnable task, long delayNanos);

	}

}
