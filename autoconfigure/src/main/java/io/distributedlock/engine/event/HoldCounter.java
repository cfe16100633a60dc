package io.distributedlock.engine.event;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counter of the holds of one lock name, and of those that were long. Older holds count
 * for less. Safe for use by many threads.
 */
public final class HoldCounter {

	/** Fewer holds than this say nothing about one in twenty. */
	public static final int MIN_HOLDS = 20;

	/** At this number of holds both numbers are halved. */
	private static final int MAX_HOLDS = 1000;

	/** All holds in the upper half, the long ones in the lower half. */
	private final AtomicLong counts = new AtomicLong();

	private final AtomicBoolean exceeded = new AtomicBoolean();

	/**
	 * Counts a hold.
	 * @param isLong whether it was long
	 * @return whether more than one in twenty is long, which is reported once
	 */
	boolean add(boolean isLong) {
		long present = this.counts.updateAndGet((counted) -> next(counted, isLong));
		long all = present >>> 32;
		long longOnes = present & 0xFFFF_FFFFL;
		return all >= MIN_HOLDS && longOnes * 20 > all && this.exceeded.compareAndSet(false, true);
	}

	private static long next(long counted, boolean isLong) {
		long all = (counted >>> 32) + 1;
		long longOnes = (counted & 0xFFFF_FFFFL) + (isLong ? 1 : 0);
		return (all < MAX_HOLDS) ? (all << 32) | longOnes : ((all / 2) << 32) | (longOnes / 2);
	}

}
