package io.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.JoinableLease;
import io.distributedlock.engine.queue.EngineContext;
import io.distributedlock.engine.queue.MinHoldCheck;
import io.distributedlock.engine.queue.MultiKeyLease;

/**
 * The locks that a nested request joins: those of the calls around it that are of the
 * same engine. Safe for use by many threads.
 */
final class EnclosingLocks {

	private final EngineContext engine;

	EnclosingLocks(EngineContext engine) {
		this.engine = engine;
	}

	/** Divides the keys of a request into those that are held and those that are not. */
	Parts parts(LockRequest request, List<LockLease> enclosing) {
		MinHoldCheck.requirePossible(request, this.engine);
		if (enclosing.isEmpty()) {
			return new Parts(request.keys(), List.of());
		}
		List<LockKey> missing = new ArrayList<>(request.keys().size());
		List<JoinableLease> joined = new ArrayList<>(0);
		for (LockKey key : request.keys()) {
			JoinableLease outer = outer(key, enclosing, request);
			if (outer == null) {
				missing.add(key);
			}
			else if (!joined.contains(outer.owner(key))) {
				joined.add(outer.owner(key));
			}
		}
		return new Parts(missing, joined);
	}

	/** Returns the enclosing lock that has a key, if it can be joined. */
	@Nullable JoinableLease outer(LockKey key, List<LockLease> enclosing, LockRequest request) {
		HeldGrants heldGrants = this.engine.heldGrants();
		// Without an iterator, since this is most of what a nested call does.
		for (int i = 0; i < enclosing.size(); i++) {
			LockLease outer = enclosing.get(i);
			if (outer instanceof JoinableLease joinable && joinable.isOf(heldGrants) && joinable.covers(key)) {
				if (joinable.isHeld()) {
					MinHoldCheck.requirePossible(request, this.engine);
					MinHoldCheck.requireKeptBy(joinable, key, request);
					return joinable;
				}
				joinable.throwLoss(LockError.REENTRY_AFTER_LOSS);
			}
		}
		return null;
	}

	/**
	 * Keeps locks, each of which is held.
	 * @throws LockLostException if one of them has ended meanwhile
	 */
	static List<JoinableLease> keep(List<JoinableLease> joined) {
		List<JoinableLease> kept = MultiKeyLease.keepAll(joined);
		if (kept == null) {
			requireHeld(joined);
			throw new IllegalStateException("A lock was released while it was joined");
		}
		return kept;
	}

	/**
	 * Checks that locks are held.
	 * @throws LockLostException if one of them was lost
	 */
	static void requireHeld(List<JoinableLease> joined) {
		for (JoinableLease part : joined) {
			part.throwLoss(LockError.REENTRY_AFTER_LOSS);
			part.ensureHeld();
		}
	}

	/**
	 * The keys of a request that have to be acquired, and the locks that have the others.
	 */
	record Parts(List<LockKey> missing, List<JoinableLease> joined) {
	}

}
