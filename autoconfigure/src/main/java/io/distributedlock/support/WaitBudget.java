package io.distributedlock.support;

import java.time.Duration;

/**
 * The wait budget of a request, which covers all that it does. Instants are nano times.
 *
 * @param startNanos when the request began
 * @param waitUntilNanos the end of the wait for a holder
 * @param endNanos the end of the request if the store does not answer, with some slack:
 * an attempt is never too short for a store that answers
 * @param callTimeoutNanos how long one round trip may take
 */
record WaitBudget(long startNanos, long waitUntilNanos, long endNanos, long callTimeoutNanos) {

	/** How much longer than the rest of the budget a late attempt may take. */
	private static final long SLACK_NANOS = Duration.ofMillis(150).toNanos();

	static WaitBudget of(LockTerms terms, Duration callTimeout, long startNanos) {
		long wait = terms.waitTime().toNanos();
		long call = callTimeout.toNanos();
		return new WaitBudget(startNanos, startNanos + wait, startNanos + Math.max(wait, call) + SLACK_NANOS, call);
	}

	boolean mayWait(long nowNanos) {
		return !Nanos.isPast(this.waitUntilNanos, nowNanos);
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
