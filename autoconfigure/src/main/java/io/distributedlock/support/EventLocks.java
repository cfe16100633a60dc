package io.distributedlock.support;

import io.distributedlock.LockKey;

/**
 * The locks of all keys of an engine. Keys share them, so that a held lock needs none of
 * its own: nothing waits and nothing else is locked while one is held.
 */
final class EventLocks {

	private static final int NUMBER = 256;

	private final EventLock[] locks = new EventLock[NUMBER];

	EventLocks() {
		for (int i = 0; i < NUMBER; i++) {
			this.locks[i] = new EventLock();
		}
	}

	EventLock lock(LockKey key) {
		int hash = key.hashCode();
		return this.locks[(hash ^ (hash >>> 16)) & (NUMBER - 1)];
	}

}
