package io.distributedlock.zookeeper;

import io.distributedlock.LockKey;
import io.distributedlock.zookeeper.session.LockPath;

/**
 * Contention of this process for one lock, by one contender.
 *
 * @param key the lock
 * @param path the paths of the lock's nodes
 * @param limit the most shares that there may be with its own, or 0 for the whole lock
 * @param number the number of the contender, higher than that of each earlier one
 * @param changed runs when another attempt may succeed; must not block
 */
record ContenderId(LockKey key, LockPath path, int limit, long number, Runnable changed) {

	boolean isShare() {
		return this.limit > 0;
	}

}
