package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.Optional;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.provider.LongestLease;

/**
 * Checks that refuse a lease or a shortest hold that could not be kept, and a mode in
 * which the store grants no locks.
 */
public final class RequestCheck {

	private RequestCheck() {
	}

	/**
	 * Refuses a mode, a lease or a shortest hold that the store cannot keep, or a
	 * shortest hold that is longer than the default of the longest hold.
	 * @throws LockConfigurationException if it is refused
	 */
	public static void requirePossible(LockRequest request, EngineContext engine) {
		if (!engine.provider().supports(request.mode())) {
			throw engine.failures().unsupported(request.mode(), "Lock " + request.keys() + " was requested");
		}
		Optional<LongestLease> longest = engine.provider().longestLease();
		if (longest.isPresent()) {
			requireWithin(longest.get(), request, engine);
		}
		Duration minHold = request.minHold();
		if (minHold == null) {
			return;
		}
		if (!engine.provider().supportsMinHold()) {
			throw new LockConfigurationException(LockError.MIN_HOLD_UNSUPPORTED,
					"Lock " + request.keys() + " was requested with a minHold of " + minHold + ", but the store '"
							+ engine.provider().name() + "' cannot keep a lock after its release",
					"Remove the minHold, or keep the locks in Redis or, with distributed-lock.jdbc.strategy=lease, in a "
							+ "database");
		}
		LockTerms.of(request, engine.settings());
	}

	/** Refuses a request that the store would have to keep for longer than it can. */
	private static void requireWithin(LongestLease longest, LockRequest request, EngineContext engine) {
		LockTerms terms = LockTerms.of(request, engine.settings());
		String store = "the store '" + engine.provider().name() + "' keeps no lock for longer than " + longest;
		if (longest.isExceededBy(terms.lease())) {
			boolean ofRequest = request.lease() != null;
			throw new LockConfigurationException(LockError.INVALID_LEASE,
					"Lock " + request.keys() + " was requested with "
							+ (ofRequest ? "a lease of " + terms.lease()
									: "the lease of distributed-lock.lease, " + terms.lease())
							+ ", but " + store,
					"Use a shorter lease, which is renewed, "
							+ (ofRequest ? "by withLease or the lease of the annotation" : "by distributed-lock.lease")
							+ ", or raise " + longest.setting());
		}
		Duration stored = (request.keys().size() > 1) ? terms.leaseOfPart() : terms.longerOf(terms.minHoldNanos());
		if (longest.isExceededBy(stored)) {
			throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
					"Lock " + request.keys() + " was requested with a minHold of " + terms.minHold() + ", but " + store
							+ ((request.keys().size() > 1) ? ", lease and minHold together" : ""),
					"Use a shorter minHold, by withMinHold or the minHold of the annotation, or raise "
							+ longest.setting());
		}
	}

	private static String describe(int permits) {
		return (permits == 0) ? "exclusively" : "with permits = " + permits;
	}

	/**
	 * Lets a lock that a request has joined be kept for the shortest hold of that request
	 * too, from now on. The store is told by the next renewal, and with the release.
	 */
	public static void prolong(EngineLease joined, LockRequest request, EngineContext engine) {
		Duration minHold = request.minHold();
		if (minHold != null) {
			long until = engine.nanoTime() + minHold.toNanos();
			for (HeldGrant grant : joined.grants()) {
				if (grant.prolongMinHold(until)) {
					engine.holdStart().renewSoon(grant);
				}
			}
		}
	}

	/**
	 * Refuses what is {@linkplain #requirePossible not possible}, a nested request that
	 * keeps away others whom the share that it would join lets in, and one whose shortest
	 * hold is longer than that of the lock that it joins, which the store keeps as the
	 * enclosing call has asked for.
	 * @throws LockConfigurationException if it is refused
	 */
	public static void requireKeptBy(EngineLease outer, LockRequest request, EngineContext engine) {
		requirePossible(request, engine);
		LockKey shared = outer.firstWeaker(request.permits());
		if (shared != null) {
			throw new LockConfigurationException(LockError.EXCLUSIVE_INSIDE_SHARED,
					"A nested request wants lock '" + shared + "' " + describe(request.permits())
							+ ", but the enclosing call, or an earlier one of its transaction, holds it in the mode "
							+ outer.mode(shared) + ", which admits more holders: it would wait for itself",
					"Request it " + describe(request.permits())
							+ " in the first of these calls, or after the lock was released");
		}
		Duration minHold = request.minHold();
		if (minHold == null) {
			return;
		}
		for (HeldGrant grant : outer.grants()) {
			if (minHold.toNanos() > grant.minHoldNanos()) {
				throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
						"A nested request for lock '" + grant.key() + "' has a minHold of " + minHold
								+ ", but the enclosing call, which holds the lock, has "
								+ ((grant.minHoldNanos() > 0) ? "one of " + Duration.ofNanos(grant.minHoldNanos())
										: "none"),
						"Give the enclosing call that minHold, or use another key for the nested one");
			}
		}
	}

}
