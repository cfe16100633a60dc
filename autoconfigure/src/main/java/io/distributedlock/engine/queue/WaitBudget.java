package io.distributedlock.engine.queue;

import java.time.Duration;

import io.distributedlock.engine.concurrent.Nanos;

/**
 * The wait budget of a request, which covers all that it does. Instants are nano times.
 *
 * @param startNanos when the request began
 * @param waitUntilNanos the end of the wait for a holder
 * @param endNanos the end of the request if the store does not answer, with some slack:
 * an attempt is never too short for a store that answers
 * @param callTimeoutNanos how long one round trip may take
 * @param failureNanos how long the store may fail without an answer before the wait ends
 */
public record WaitBudget(long startNanos, long waitUntilNanos, long endNanos, long callTimeoutNanos,
		long failureNanos) {

	/** Longer than any lease, and short enough to be added to an instant. */
	private static final long UNLIMITED_NANOS = Duration.ofDays(365).toNanos();

	/** How much longer than the rest of the budget a late attempt may take. */
	private static final long SLACK_NANOS = Duration.ofMillis(150).toNanos();

	public static WaitBudget of(Duration waitTime, Duration callTimeout, long startNanos) {
		return of(waitTime.toNanos(), callTimeout.toNanos(), startNanos, Long.MAX_VALUE);
	}

	/** A budget without an end, but for a store that fails for the whole wait time. */
	public static WaitBudget unlimited(Duration waitTime, Duration callTimeout, long startNanos) {
		return of(UNLIMITED_NANOS, callTimeout.toNanos(), startNanos, waitTime.toNanos());
	}

	private static WaitBudget of(long wait, long call, long startNanos, long failureNanos) {
		return new WaitBudget(startNanos, startNanos + wait, startNanos + Math.max(wait, call) + SLACK_NANOS, call,
				failureNanos);
	}

	/** Returns the wait time of a budget that has one. */
	Duration waitTime() {
		return Duration.ofNanos(this.waitUntilNanos - this.startNanos);
	}

	boolean mayWait(long nowNanos) {
		return !Nanos.isPast(this.waitUntilNanos, nowNanos);
	}

	/** Whether to attempt again after the store has failed for some time. */
	boolean mayRetry(long nowNanos, long failingNanos) {
		return mayWait(nowNanos) && failingNanos < this.failureNanos;
	}

	boolean isOver(long nowNanos) {
		return Nanos.isPast(this.endNanos, nowNanos);
	}

	/** Returns the end of the wait, or after it the end of the request. */
	long nextDeadlineNanos(boolean mayWait) {
		return mayWait ? this.waitUntilNanos : this.endNanos;
	}

	/**
	 * Returns how long an attempt that begins now may take.
	 * @return the time in nanoseconds; none is left if it is not positive
	 */
	long attemptTimeoutNanos(long nowNanos) {
		return Math.min(this.callTimeoutNanos, this.endNanos - nowNanos);
	}

}
