package io.distributedlock.engine.queue;

import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * The locks of all keys of an engine. Keys share them, so that a held lock needs none of
 * its own: nothing waits while one is held, and only the lock of the pending releases is
 * taken.
 */
public final class QueueMutexes {

	private static final int NUMBER = 256;

	private final AtomicReferenceArray<@Nullable QueueMutex> locks = new AtomicReferenceArray<>(NUMBER);

	QueueMutex lock(LockKey key) {
		int hash = key.hashCode();
		int index = (hash ^ (hash >>> 16)) & (NUMBER - 1);
		QueueMutex present = this.locks.get(index);
		if (present != null) {
			return present;
		}
		QueueMutex created = new QueueMutex();
		QueueMutex first = this.locks.compareAndExchange(index, null, created);
		return (first != null) ? first : created;
	}

}
