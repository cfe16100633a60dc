package io.distributedlock.support;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockRequest;

/**
 * The limit that a store may set to leases and shortest holds.
 */
final class LeaseLimit {

	private LeaseLimit() {
	}

	/**
	 * Refuses a request that a store would have to keep for longer than it can.
	 * @throws LockConfigurationException if the lease or the shortest hold is too long
	 */
	static void requireWithin(LockRequest request, EngineContext engine) {
		engine.provider().longestLease().ifPresent((longest) -> {
			LockTerms terms = LockTerms.of(request, engine.settings());
			String store = "the store '" + engine.provider().name() + "' keeps no lock for longer than " + longest;
			if (terms.lease().compareTo(longest) > 0) {
				throw new LockConfigurationException(LockError.INVALID_LEASE,
						"Lock " + request.keys() + " was requested with a lease of " + terms.lease() + ", but " + store,
						"Use a shorter lease, which is renewed, or raise that limit of the store");
			}
			Duration stored = (request.keys().size() > 1) ? terms.leaseOfPart() : terms.longerOf(terms.minHoldNanos());
			if (stored.compareTo(longest) > 0) {
				throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
						"Lock " + request.keys() + " was requested with a minHold of " + terms.minHold() + ", but "
								+ store + ((request.keys().size() > 1) ? ", lease and minHold together" : ""),
						"Use a shorter minHold, or raise that limit of the store");
			}
		});
	}

}
