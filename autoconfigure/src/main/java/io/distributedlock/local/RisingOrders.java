package io.distributedlock.local;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Orders that follow a clock, and rise also while it does not. Safe for use by many
 * threads.
 */
final class RisingOrders {

	/** Leaves room to count on, whatever the machine's clock says. */
	private static final long MAX_CLOCK_MICROS = 1L << 52;

	private final AtomicLong last = new AtomicLong();

	long next(long clockMicros) {
		long micros = Math.min(clockMicros, MAX_CLOCK_MICROS);
		return this.last.updateAndGet((former) -> Math.max(former + 1, micros));
	}

}
