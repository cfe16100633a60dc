package io.distributedlock.engine.queue;

import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * The locks of all keys of an engine. Keys share them, so that a held lock needs none of
 * its own: nothing waits while one is held, and only the lock of the pending releases is
 * taken.
 */
public final class EventLocks {

	private static final int NUMBER = 256;

	private final AtomicReferenceArray<@Nullable EventLock> locks = new AtomicReferenceArray<>(NUMBER);

	EventLock lock(LockKey key) {
		int hash = key.hashCode();
		int index = (hash ^ (hash >>> 16)) & (NUMBER - 1);
		EventLock present = this.locks.get(index);
		if (present != null) {
			return present;
		}
		EventLock created = new EventLock();
		EventLock first = this.locks.compareAndExchange(index, null, created);
		return (first != null) ? first : created;
	}

}
