package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;

/**
 * The queues of the keys that this process holds or waits for, and no others.
 */
public final class KeyQueueRegistry {

	private final ConcurrentMap<LockKey, KeyQueue> queues = new ConcurrentHashMap<>();

	final EngineContext engine;

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
			return new KeyQueue(key, this);
		}
		KeyQueue queue = this.queues.get(key);
		return (queue != null) ? queue : this.queues.computeIfAbsent(key, (absent) -> new KeyQueue(absent, this));
	}

	/**
	 * Opens a queue with the first attempt of a request, if nobody in this process holds
	 * the key or waits for it.
	 * @return the attempt, which is to be sent; or {@code null} if there is a queue, or
	 * the attempt cannot be made: the request finds out why when it arrives
	 */
	@Nullable StoreAttempt openFor(KeyRequest request) {
		LockKey key = request.key();
		if (this.queues.containsKey(key)) {
			return null;
		}
		KeyQueue created = new KeyQueue(key, this);
		StoreAttempt first;
		try {
			first = created.contest().prepareFirst(request);
		}
		catch (RuntimeException ex) {
			return null;
		}
		if (first != null && this.engine.provider().isExclusive() && this.queues.putIfAbsent(key, created) != null) {
			QueueMutex.run(first.contender()::close);
			return null;
		}
		return first;
	}

	/** Removes a queue that closes; called under its lock. */
	void remove(KeyQueue closed) {
		this.queues.remove(closed.key, closed);
	}

	/** Lets the head of the queue attempt, because the key may be free in the store. */
	public void notified(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		if (queue != null) {
			queue.notified();
		}
	}

	/** Signals all requests for all keys. */
	public void signalAll() {
		requests().forEach(KeyRequest::signal);
	}

	/** Whether any request waits, or an attempt is under way. */
	public boolean hasWaiters() {
		return this.queues.values().stream().anyMatch(KeyQueue::hasWaiters);
	}

	/** Returns all requests that wait. */
	public List<LockSnapshot.Waiting> waiting(long nowNanos) {
		return requests().stream().map((request) -> request.view(nowNanos)).toList();
	}

	private List<KeyRequest> requests() {
		List<KeyRequest> all = new ArrayList<>();
		this.queues.values().forEach((queue) -> all.addAll(queue.requests()));
		return all;
	}

	public int size() {
		return this.queues.size();
	}

}
