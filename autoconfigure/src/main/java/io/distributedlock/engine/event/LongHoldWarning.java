package io.distributedlock.engine.event;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

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

}
