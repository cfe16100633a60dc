package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A local instant at which something ends, such as a call or a lease, as
 * {@link System#nanoTime()} counts. The values of that clock have no fixed origin and may
 * overflow, so that deadlines are compared by their difference only. A deadline is at
 * most 73 years away; a longer duration is shortened to that.
 *
 * @param nanos the value of the clock at the deadline
 * @since 0.1.0
 */
public record Deadline(long nanos) {

	/** A quarter of the range, so that no difference of two deadlines overflows. */
	private static final long LONGEST_NANOS = Long.MAX_VALUE / 4;

	/**
	 * Returns the present instant, a deadline that has passed.
	 * @return the present instant
	 */
	public static Deadline now() {
		return new Deadline(System.nanoTime());
	}

	/**
	 * Returns the deadline at the end of a duration that begins now.
	 * @param duration the duration; if it is negative, the deadline has passed
	 * @return the deadline
	 */
	public static Deadline after(Duration duration) {
		return afterNanos(TimeUnit.NANOSECONDS.convert(duration));
	}

	/**
	 * Returns the deadline at the end of a number of nanoseconds that begin now.
	 * @param nanos the nanoseconds; if they are negative, the deadline has passed
	 * @return the deadline
	 */
	public static Deadline afterNanos(long nanos) {
		return afterNanos(nanos, System.nanoTime());
	}

	static Deadline afterNanos(long nanos, long nowNanos) {
		return new Deadline(nowNanos + Math.max(-LONGEST_NANOS, Math.min(nanos, LONGEST_NANOS)));
	}

	/**
	 * Returns the time until the deadline.
	 * @return the time in nanoseconds; negative after the deadline
	 */
	public long remainingNanos() {
		return remainingNanos(System.nanoTime());
	}

	long remainingNanos(long nowNanos) {
		return this.nanos - nowNanos;
	}

	/**
	 * Returns the time until the deadline.
	 * @return the time; negative after the deadline
	 */
	public Duration remaining() {
		return Duration.ofNanos(remainingNanos());
	}

	/**
	 * Returns whether the deadline has come.
	 * @return whether no time remains
	 */
	public boolean isPast() {
		return remainingNanos() <= 0;
	}

	/**
	 * Returns whether this deadline is before another one.
	 * @param other the other deadline
	 * @return {@code false} also if both are the same instant
	 */
	public boolean isBefore(Deadline other) {
		return this.nanos - other.nanos < 0;
	}

	/**
	 * Returns the earlier of two deadlines.
	 * @param other the other deadline
	 * @return this deadline if it is not after the other one, else the other one
	 */
	public Deadline earlier(Deadline other) {
		return other.isBefore(this) ? other : this;
	}

	/**
	 * Waits until this deadline at most, and ends the wait at an interrupt only if the
	 * kind of the call allows that.
	 * @param <T> the type of the result
	 * @param <X> the type of a failure
	 * @param kind the purpose of the call that waits
	 * @param wait the wait, repeated after an interrupt that does not end it
	 * @return the result of the wait
	 * @throws InterruptedException if the kind is interruptible and the thread was
	 * interrupted
	 * @throws X if the wait failed
	 */
	public <T extends @Nullable Object, X extends Exception> T await(CallKind kind, TimedWait<T, X> wait)
			throws InterruptedException, X {
		return kind.interruptible() ? wait.await(remainingNanos()) : awaitUninterruptibly(wait);
	}

	/**
	 * Waits until this deadline at most. An interrupt does not end the wait; the thread
	 * is interrupted again after it.
	 * @param <T> the type of the result
	 * @param <X> the type of a failure
	 * @param wait the wait, repeated after each interrupt
	 * @return the result of the wait
	 * @throws X if the wait failed
	 */
	public <T extends @Nullable Object, X extends Exception> T awaitUninterruptibly(TimedWait<T, X> wait) throws X {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return wait.await(remainingNanos());
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * A wait for a limited time, such as that for a latch.
	 *
	 * @param <T> the type of the result
	 * @param <X> the type of a failure
	 */
	@FunctionalInterface
	public interface TimedWait<T extends @Nullable Object, X extends Exception> {

		/**
		 * Waits.
		 * @param nanos how long in nanoseconds; not at all if negative
		 * @return the result, which may be that the time is over
		 * @throws InterruptedException if the thread was interrupted
		 * @throws X if the wait failed
		 */
		T await(long nanos) throws InterruptedException, X;

	}

}
