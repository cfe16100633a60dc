package io.distributedlock.support;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;

/**
 * The queues of the keys that this process holds or waits for, and no others.
 */
final class KeyQueueRegistry {

	private final ConcurrentMap<LockKey, KeyQueue> queues = new ConcurrentHashMap<>();

	private final LockEngine engine;

	KeyQueueRegistry(LockEngine engine) {
		this.engine = engine;
	}

	/**
	 * Returns the open queue of the key. If it closes before a request arrives, call
	 * again.
	 */
	KeyQueue queue(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		return (queue != null) ? queue
				: this.queues.computeIfAbsent(key, (absent) -> new KeyQueue(absent, this.engine));
	}

	/** Creates a queue for one request, which does not exclude others. */
	KeyQueue unshared(LockKey key) {
		return new KeyQueue(key, this.engine);
	}

	/** Removes a closed queue. */
	void remove(KeyQueue queue) {
		this.queues.remove(queue.key(), queue);
	}

	/** Lets the head of the queue attempt, because the key may be free in the store. */
	void notified(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		if (queue != null) {
			queue.notified();
		}
	}

	/** Signals all waiters of all keys. */
	void signalAll() {
		List<KeyQueue> all = new ArrayList<>(this.queues.values());
		all.forEach(KeyQueue::signalAll);
	}

	/** Whether any request waits. */
	boolean hasWaiters() {
		return this.queues.values().stream().anyMatch(KeyQueue::hasWaiters);
	}

	/** Returns all requests that wait. */
	List<LockSnapshot.Waiting> waiting(long nowNanos) {
		List<LockSnapshot.Waiting> all = new ArrayList<>();
		this.queues.values().forEach((queue) -> all.addAll(queue.waiting(nowNanos)));
		return all;
	}

	int size() {
		return this.queues.size();
	}

}
