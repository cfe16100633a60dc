package io.distributedlock.support;

import java.time.Duration;

/**
 * The one wait budget of a request: everything it does fits in.
 *
 * @param start when the request began
 * @param waitUntil until when it waits for a holder
 * @param end when it has ended though the store does not answer
 * @param callTimeout what one round trip may take
 */
record WaitBudget(long start, long waitUntil, long end, long callTimeout) {

	/**
	 * An attempt that begins late may take a little longer than the rest of the budget.
	 */
	private static final long SLACK = Duration.ofMillis(150).toNanos();

	static WaitBudget of(LockTerms terms, Duration callTimeout) {
		long start = System.nanoTime();
		long wait = terms.waitTime().toNanos();
		return new WaitBudget(start, start + wait, start + Math.max(wait, callTimeout.toNanos()),
				callTimeout.toNanos());
	}

	boolean mayWait(long now) {
		return !Nanos.isPast(this.waitUntil, now);
	}

	boolean isOver(long now) {
		return Nanos.isPast(this.end, now);
	}

	/**
	 * What an attempt that begins now may take; never so little that a live store fails.
	 */
	Duration attemptTimeout(long now) {
		return Duration.ofNanos(Math.min(this.callTimeout, this.end + SLACK - now));
	}

}
