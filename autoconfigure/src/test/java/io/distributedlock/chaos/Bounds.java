package io.distributedlock.chaos;

import java.time.Duration;

import io.distributedlock.testkit.TimeBounds;

/**
 * The times that a history is judged by.
 *
 * @param expiry how long the store keeps the lock of a process that has died
 * @param callTimeout the longest time of a round trip
 * @param load what the machine may add to a promised time
 * @param queued whether no share passes a call that waits
 */
record Bounds(Duration expiry, Duration callTimeout, Duration load, boolean queued) {

	/** What the promises add to a wait time, a time-out or the rest of a lease. */
	private static final Duration GRACE = Duration.ofMillis(250);

	/** The longest pause between two attempts of a process that waits. */
	private static final Duration POLL = Duration.ofSeconds(1);

	static Bounds of(Duration expiry, Duration callTimeout, boolean queued) {
		Duration load = Duration.ofMillis(Long.getLong("chaos.load-millis", TimeBounds.LOAD.toMillis()));
		return new Bounds(expiry, callTimeout, load, queued);
	}

	/** The latest end of what has a limit. */
	long within(long limitNanos) {
		return limitNanos + GRACE.plus(this.load).toNanos();
	}

	/** The longest time for which a free lock may be waited for. */
	long longestIdle() {
		return within(POLL.toNanos());
	}

	long releaseLimit() {
		return within(this.callTimeout.toNanos());
	}

	/** For how long a fault still has effects after its end, at most. */
	long aftermath() {
		return this.expiry.plus(this.callTimeout).toNanos();
	}

}
