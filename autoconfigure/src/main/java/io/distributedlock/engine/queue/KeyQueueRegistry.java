package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.release.ShareKey;

/**
 * The queues of the keys that this process holds or waits for, and no others.
 */
public final class KeyQueueRegistry {

	/** The queues for whole keys, by their keys. */
	private final ConcurrentMap<Object, KeyQueue> queues = new ConcurrentHashMap<>();

	/** The queues for shares, by their {@link ShareKey}. */
	private final ConcurrentMap<Object, KeyQueue> shareQueues = new ConcurrentHashMap<>();

	final EngineContext engine;

	public KeyQueueRegistry(EngineContext engine) {
		this.engine = engine;
	}

	private ConcurrentMap<Object, KeyQueue> queuesFor(int limit) {
		return (limit > 0) ? this.shareQueues : this.queues;
	}

	/**
	 * Returns the open queue in which a request waits for its turn. If it closes before
	 * the request arrives, call again.
	 */
	KeyQueue queue(KeyRequest request) {
		LockKey key = request.key();
		int limit = request.terms().permits();
		if (!this.engine.provider().isExclusive()) {
			// For one request, which does not exclude others.
			return new KeyQueue(key, limit, this);
		}
		Object shareKey = ShareKey.of(key, limit);
		KeyQueue queue = queuesFor(limit).get(shareKey);
		return (queue != null) ? queue
				: queuesFor(limit).computeIfAbsent(shareKey, (absent) -> new KeyQueue(key, limit, this));
	}

	/**
	 * Opens a queue with the first attempt of a request, if nobody in this process holds
	 * the key or waits for it.
	 * @return the attempt, which is to be sent; or {@code null} if there is a queue, or
	 * the attempt cannot be made: the request finds out why when it arrives
	 */
	@Nullable StoreAttempt openFor(KeyRequest request) {
		int limit = request.terms().permits();
		Object shareKey = ShareKey.of(request.key(), limit);
		if (queuesFor(limit).containsKey(shareKey)) {
			return null;
		}
		KeyQueue created = new KeyQueue(request.key(), limit, this);
		StoreAttempt first;
		try {
			first = created.contest().prepareFirst(request);
		}
		catch (RuntimeException ex) {
			return null;
		}
		if (first != null && this.engine.provider().isExclusive()
				&& queuesFor(limit).putIfAbsent(shareKey, created) != null) {
			QueueMutex.run(first.contender()::close);
			return null;
		}
		return first;
	}

	/** Removes a queue that closes; called under its lock. */
	void remove(KeyQueue closed) {
		queuesFor((closed.shares != null) ? closed.shares.limit : 0).remove(closed.shareKey, closed);
	}

	/** Lets the heads of the queues attempt, because the key may be free in the store. */
	public void notified(LockKey key) {
		KeyQueue queue = this.queues.get(key);
		if (queue != null) {
			queue.notified();
		}
		this.shareQueues.values().forEach((shares) -> {
			if (shares.key.equals(key)) {
				shares.notified();
			}
		});
	}

	/** Signals all requests for all keys. */
	public void signalAll() {
		requests().forEach(KeyRequest::signal);
	}

	/** Whether any request waits, or an attempt is under way. */
	public boolean hasWaiters() {
		return all().anyMatch(KeyQueue::hasWaiters);
	}

	/** Returns all requests that wait. */
	public List<LockSnapshot.Waiting> waiting(long nowNanos) {
		return requests().stream().map((request) -> request.view(nowNanos)).toList();
	}

	private List<KeyRequest> requests() {
		List<KeyRequest> all = new ArrayList<>();
		all().forEach((queue) -> all.addAll(queue.requests()));
		return all;
	}

	private Stream<KeyQueue> all() {
		return Stream.concat(this.queues.values().stream(), this.shareQueues.values().stream());
	}

	public int size() {
		return this.queues.size() + this.shareQueues.size();
	}

}
