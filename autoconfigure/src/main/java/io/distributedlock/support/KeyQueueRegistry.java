package io.distributedlock.support;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;

/**
 * The queues of the keys that this process holds or waits for, and no others.
 */
final class KeyQueueRegistry {

	private final ConcurrentMap<LockKey, KeyQueue> queues = new ConcurrentHashMap<>();

	private final PendingReleaseQueue pendingReleases;

	KeyQueueRegistry(PendingReleaseQueue pendingReleases) {
		this.pendingReleases = pendingReleases;
	}

	/**
	 * Returns the open queue of the key. If it closes before it is joined, call again.
	 */
	KeyQueue queue(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		return (queue != null) ? queue : this.queues.computeIfAbsent(key, (absent) -> new KeyQueue(absent, this));
	}

	/** Creates a queue for one request, which does not exclude others. */
	KeyQueue unshared(LockKey key) {
		return new KeyQueue(key, this);
	}

	/**
	 * Removes a closed queue.
	 * @param queue the queue
	 * @param enqueued its contender, if the wait queue in the store may have an entry of
	 * this process
	 */
	void remove(KeyQueue queue, @Nullable LockContender enqueued) {
		this.queues.remove(queue.key(), queue);
		if (enqueued != null) {
			this.pendingReleases.withdraw(queue.key(), enqueued);
		}
	}

	/** Signals the head of the queue, because the key may be free in the store. */
	void changed(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		if (queue != null) {
			queue.signalHead();
		}
	}

	/** Signals all waiters of all keys. */
	void signalAll() {
		List<KeyQueue> all = new ArrayList<>(this.queues.values());
		all.forEach(KeyQueue::signalAll);
	}

	int size() {
		return this.queues.size();
	}

}
