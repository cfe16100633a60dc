package io.distributedlock.support;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;

/**
 * The queues of the keys that somebody in this process holds or waits for, and no others.
 */
final class KeyQueueRegistry {

	private final ConcurrentMap<LockKey, KeyQueue> queues = new ConcurrentHashMap<>();

	private final PendingReleaseQueue pendingReleases;

	KeyQueueRegistry(PendingReleaseQueue pendingReleases) {
		this.pendingReleases = pendingReleases;
	}

	/** The open queue of the key. It may close before it is joined: then ask again. */
	KeyQueue queue(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		return (queue != null) ? queue : this.queues.computeIfAbsent(key, (absent) -> new KeyQueue(absent, this));
	}

	/** A queue that no other request joins: its requests do not exclude each other. */
	KeyQueue unshared(LockKey key) {
		return new KeyQueue(key, this);
	}

	/**
	 * Forgets a closed queue.
	 * @param queue the queue
	 * @param standing its contender, if a place of this process may stand in the store
	 */
	void remove(KeyQueue queue, @Nullable LockContender standing) {
		this.queues.remove(queue.key(), queue);
		if (standing != null) {
			this.pendingReleases.withdraw(queue.key(), standing);
		}
	}

	/** The store may have the key free again. */
	void changed(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		if (queue != null) {
			queue.changed();
		}
	}

	/** Tells everybody who waits to look again. */
	void signalAll() {
		List<KeyQueue> all = new ArrayList<>(this.queues.values());
		all.forEach(KeyQueue::signalAll);
	}

	int size() {
		return this.queues.size();
	}

}
