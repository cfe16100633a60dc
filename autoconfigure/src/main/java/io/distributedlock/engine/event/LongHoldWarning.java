package io.distributedlock.engine.event;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;

/**
 * Warning that the work under a lock has taken nearly as long as its lease, which is not
 * renewed: more than 80 % of it. Logged once for each lock name. Safe for use by many
 * threads.
 */
public final class LongHoldWarning {

	private static final Log logger = LogFactory.getLog(LongHoldWarning.class);

	/** Names beyond this number are not logged. */
	private static final int MAX_NAMES = 1000;

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	/**
	 * Records that the work under a lock has ended.
	 * @param key the key
	 * @param heldNanos how long the work has taken
	 * @param lease the lease, which was not renewed
	 */
	public void holdEnded(LockKey key, long heldNanos, Duration lease) {
		if (heldNanos > lease.toNanos() / 5 * 4 && this.logged.size() < MAX_NAMES && this.logged.add(key.name())) {
			logger.warn(LockError.LONG_HOLD.describe(
					"The work under the lock '" + key.name() + "' took " + TimeUnit.NANOSECONDS.toMillis(heldNanos)
							+ " ms of its lease of " + lease.toMillis()
							+ " ms, which is not renewed (renew = false): work that outlasts it loses its lock",
					"Use a longer lease, or let it be renewed"));
		}
	}

}
