package io.distributedlock.engine.event;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;

/**
 * Warning that the work under a lock takes nearly as long as its lease, which is not
 * renewed: the 95th percentile of the holds is above 80 % of the lease. Logged once for
 * each lock name. Two counters are kept for a name, and only for leases that are not
 * renewed. Safe for use by many threads.
 */
public final class LongHoldWarning {

	private static final Log logger = LogFactory.getLog(LongHoldWarning.class);

	/** Fewer holds than this say nothing about one in twenty. */
	public static final int MIN_HOLDS = 20;

	/** Names beyond this number are not watched. */
	static final int MAX_NAMES = 1000;

	private final ConcurrentMap<String, HoldCounter> counters = new ConcurrentHashMap<>();

	/**
	 * Records that the work under a lock has ended.
	 * @param key the key
	 * @param heldNanos how long the work has taken
	 * @param lease the lease, which was not renewed
	 */
	public void holdEnded(LockKey key, long heldNanos, Duration lease) {
		HoldCounter counter = this.counters.get(key.name());
		if (counter == null) {
			if (this.counters.size() >= MAX_NAMES) {
				return;
			}
			counter = this.counters.computeIfAbsent(key.name(), (name) -> new HoldCounter());
		}
		if (counter.add(heldNanos > lease.toNanos() / 5 * 4)) {
			logger
				.warn(LockError.LONG_HOLD.describe(
						"More than 5 % of the holds of lock '" + key.name()
								+ "' last longer than 80 % of their lease of " + lease.toMillis()
								+ " ms, which is not renewed (renew = false): a slower one loses its" + " lock",
						"Use a longer lease, or let it be renewed"));
		}
	}

	/**
	 * Counter of the holds of one lock name, and of those that were long. Older holds
	 * count for less. Safe for use by many threads.
	 */
	static final class HoldCounter {

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

}
