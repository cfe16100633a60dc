package io.distributedlock.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockSettings;

/**
 * Warning that the lease of a request leaves its renewals less time than a round trip may
 * take. Logged once for each lock name. The default lease is checked at start. Safe for
 * use by many threads.
 */
final class ShortRenewalWarning {

	private static final Log logger = LogFactory.getLog(ShortRenewalWarning.class);

	/** Names beyond this number are not logged. */
	private static final int MAX_NAMES = 1000;

	private final LockSettings settings;

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	ShortRenewalWarning(LockSettings settings) {
		this.settings = settings;
	}

	/** Checks a request that names its lease. */
	void check(LockRequest request) {
		Duration lease = request.lease();
		if (lease == null || !request.renew() || lease.compareTo(this.settings.shortestSafeLease()) >= 0) {
			return;
		}
		String name = request.keys().get(0).name();
		if (this.logged.size() < MAX_NAMES && this.logged.add(name)) {
			logger.warn(LockError.CONFLICTING_SETTINGS.describe(
					"The lease of the lock '" + name + "' is " + lease.toMillis() + " ms, of which a renewal may take "
							+ this.settings.longestRenewal(lease).toMillis()
							+ " ms at most, less than a round trip to the store (distributed-lock.call-timeout="
							+ this.settings.callTimeout().toMillis() + "ms)",
					"Use a lease of at least " + this.settings.shortestSafeLease().toMillis()
							+ " ms, or shorten distributed-lock.call-timeout"));
		}
	}

}
