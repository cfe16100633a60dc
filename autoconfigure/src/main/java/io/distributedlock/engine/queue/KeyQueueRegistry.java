package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;

import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.grant.HeldGrant;

/**
 * The queues of the keys that this process holds or waits for, and no others.
 */
public final class KeyQueueRegistry {

	private final ConcurrentMap<LockKey, KeyQueue> queues = new ConcurrentHashMap<>();

	private final EngineContext engine;

	private final Consumer<LockKey> onClosed = this.queues::remove;

	public KeyQueueRegistry(EngineContext engine) {
		this.engine = engine;
	}

	/**
	 * Returns the open queue in which a request for the key waits for its turn. If it
	 * closes before the request arrives, call again.
	 */
	KeyQueue queue(LockKey key) {
		if (!this.engine.provider().isExclusive()) {
			// For one request, which does not exclude others.
			return new KeyQueue(key, this.engine, (closed) -> {
			});
		}
		KeyQueue queue = this.queues.get(key);
		return (queue != null) ? queue
				: this.queues.computeIfAbsent(key, (absent) -> new KeyQueue(absent, this.engine, this.onClosed));
	}

	/** Lets the head of the queue attempt, because the key may be free in the store. */
	public void notified(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		if (queue != null) {
			queue.notified();
		}
	}

	/** Lets the next waiter attempt after the end of a grant. */
	public void ended(HeldGrant heldGrant) {
		KeyQueue queue = this.queues.get(heldGrant.key());
		if (queue != null) {
			queue.ended(heldGrant);
		}
	}

	/**
	 * Ends a hold and offers its grant to the next waiter.
	 * @return {@code false} if the hold has not ended
	 */
	public boolean offerToNext(HeldGrant heldGrant, int holdNumber) {
		KeyQueue queue = this.queues.get(heldGrant.key());
		return queue != null && queue.offerToNext(heldGrant, holdNumber);
	}

	/** Signals all waiters of all keys. */
	public void signalAll() {
		List<KeyQueue> all = new ArrayList<>(this.queues.values());
		all.forEach(KeyQueue::signalAll);
	}

	/** Whether any request waits. */
	public boolean hasWaiters() {
		return this.queues.values().stream().anyMatch(KeyQueue::hasWaiters);
	}

	/** Returns all requests that wait. */
	public List<LockSnapshot.Waiting> waiting(long nowNanos) {
		List<LockSnapshot.Waiting> all = new ArrayList<>();
		this.queues.values().forEach((queue) -> all.addAll(queue.waiting(nowNanos)));
		return all;
	}

	public int size() {
		return this.queues.size();
	}

}
