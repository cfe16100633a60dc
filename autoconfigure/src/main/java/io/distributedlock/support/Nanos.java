package io.distributedlock.support;

import java.time.Duration;

/**
 * Arithmetic on {@link System#nanoTime()}, which has no origin and may wrap: instants are
 * compared by their difference only.
 */
final class Nanos {

	/** Farther away than any duration that a request may name. */
	static final long NEVER = Long.MAX_VALUE / 4;

	private Nanos() {
	}

	static boolean isPast(long instant, long now) {
		return instant - now <= 0;
	}

	static long earlier(long instant, long other) {
		return (instant - other <= 0) ? instant : other;
	}

	/**
	 * How long a lease of the given length is relied upon: less than it lasts in the
	 * store, whose clock may run faster than ours.
	 */
	static long reliedUpon(Duration lease) {
		long nanos = lease.toNanos();
		return nanos - nanos / 200 - 2_000_000L;
	}

}
