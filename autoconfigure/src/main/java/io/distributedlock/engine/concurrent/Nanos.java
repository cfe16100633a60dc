package io.distributedlock.engine.concurrent;

import java.time.Duration;

/**
 * Arithmetic on {@link System#nanoTime()}, which has no fixed origin and may overflow:
 * instants are compared by their difference only.
 */
public final class Nanos {

	/** Longer than any duration that a request may have. */
	public static final long NEVER = Long.MAX_VALUE / 4;

	private Nanos() {
	}

	public static boolean isPast(long instantNanos, long nowNanos) {
		return instantNanos - nowNanos <= 0;
	}

	public static long earlier(long instantNanos, long otherNanos) {
		return (instantNanos - otherNanos <= 0) ? instantNanos : otherNanos;
	}

	public static long later(long instantNanos, long otherNanos) {
		return (instantNanos - otherNanos >= 0) ? instantNanos : otherNanos;
	}

	/** Returns a duration that is not shorter, in whole milliseconds as stores count. */
	public static Duration ceilMillis(long nanos) {
		return Duration.ofMillis((nanos + 999_999) / 1_000_000);
	}

	/**
	 * Returns how long a lease is used locally: less than it lasts in the store, whose
	 * clock may run faster than the local one.
	 */
	public static long usableNanos(Duration lease) {
		long nanos = lease.toNanos();
		return nanos - nanos / 200 - 2_000_000L;
	}

	/**
	 * Returns by how much the local clock may have gone ahead of the store's clock.
	 * @param nanos how much time has passed by the local clock
	 */
	public static long driftNanos(long nanos) {
		return nanos / 200;
	}

}
