package io.distributedlock.engine.release;

import io.distributedlock.LockKey;

/**
 * The shares of a key with one limit: what a queue of this process, and its entry in the
 * wait queue of the store, are about. For exclusive grants that is the key itself.
 *
 * @param limit the most shares that there may be with one of these
 */
public record ShareKey(LockKey key, int limit) {

	/** Returns what a queue is about. */
	public static Object of(LockKey key, int limit) {
		return (limit == 0) ? key : new ShareKey(key, limit);
	}

	/** Returns the key of what a queue is about. */
	static LockKey key(Object shareKey) {
		return (shareKey instanceof ShareKey share) ? share.key : (LockKey) shareKey;
	}

}
