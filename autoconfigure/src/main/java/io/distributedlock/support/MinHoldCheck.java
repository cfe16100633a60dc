package io.distributedlock.support;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;

/**
 * Checks that refuse a shortest hold that could not be kept.
 */
final class MinHoldCheck {

	private MinHoldCheck() {
	}

	/**
	 * Refuses a shortest hold that the store cannot keep, or that is longer than the
	 * default of the longest hold.
	 * @throws LockConfigurationException if it is refused
	 */
	static void requirePossible(LockRequest request, EngineContext engine) {
		Duration minHold = request.minHold();
		if (minHold == null) {
			return;
		}
		if (!engine.provider().supportsMinHold()) {
			throw new LockConfigurationException(LockError.MIN_HOLD_UNSUPPORTED,
					"Lock " + request.keys() + " was requested with a minHold of " + minHold + ", but the store '"
							+ engine.provider().name() + "' cannot keep a lock after its release",
					"Remove the minHold, or keep the locks in a database or in Redis");
		}
		LockTerms.of(request, engine.settings());
	}

	/**
	 * Refuses a nested request whose shortest hold is longer than that of the lock that
	 * it joins, which is released as the enclosing call has asked for.
	 * @throws LockConfigurationException if it is refused
	 */
	static void requireKeptBy(JoinableLease outer, LockKey key, LockRequest request) {
		Duration minHold = request.minHold();
		if (minHold != null && minHold.toNanos() > outer.minHoldNanos(key)) {
			throw new LockConfigurationException(LockError.INVALID_MIN_HOLD, "A nested request for lock '" + key
					+ "' has a minHold of " + minHold + ", but the enclosing call, which holds the lock, has "
					+ ((outer.minHoldNanos(key) > 0) ? "one of " + Duration.ofNanos(outer.minHoldNanos(key)) : "none"),
					"Give the enclosing call that minHold, or use another key for the nested one");
		}
	}

}
