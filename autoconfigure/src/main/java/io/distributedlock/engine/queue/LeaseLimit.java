package io.distributedlock.engine.queue;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.LockTerms;

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
			if (longest.isExceededBy(terms.lease())) {
				boolean ofRequest = request.lease() != null;
				throw new LockConfigurationException(LockError.INVALID_LEASE,
						"Lock " + request.keys() + " was requested with "
								+ (ofRequest ? "a lease of " + terms.lease()
										: "the lease of distributed-lock.lease, " + terms.lease())
								+ ", but " + store,
						"Use a shorter lease, which is renewed, " + (ofRequest
								? "by withLease or the lease of the annotation" : "by distributed-lock.lease")
								+ ", or raise " + longest.setting());
			}
			Duration stored = (request.keys().size() > 1) ? terms.leaseOfPart() : terms.longerOf(terms.minHoldNanos());
			if (longest.isExceededBy(stored)) {
				throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
						"Lock " + request.keys() + " was requested with a minHold of " + terms.minHold() + ", but "
								+ store + ((request.keys().size() > 1) ? ", lease and minHold together" : ""),
						"Use a shorter minHold, by withMinHold or the minHold of the annotation, or raise "
								+ longest.setting());
			}
		});
	}

}
