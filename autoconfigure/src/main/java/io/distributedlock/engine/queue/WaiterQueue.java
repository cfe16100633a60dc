package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of a {@link KeyQueue} in the order of their arrival. Any of them is removed
 * in constant time. Guarded by the lock of that queue.
 */
final class WaiterQueue {

	private @Nullable KeyRequest head;

	private @Nullable KeyRequest tail;

	@Nullable KeyRequest head() {
		return this.head;
	}

	void add(KeyRequest waiter) {
		waiter.previous = this.tail;
		if (this.tail != null) {
			this.tail.next = waiter;
		}
		else {
			this.head = waiter;
		}
		this.tail = waiter;
		waiter.queued = true;
	}

	void addFirst(KeyRequest waiter) {
		waiter.next = this.head;
		if (this.head != null) {
			this.head.previous = waiter;
		}
		else {
			this.tail = waiter;
		}
		this.head = waiter;
		waiter.queued = true;
	}

	void remove(KeyRequest waiter) {
		if (waiter.previous != null) {
			waiter.previous.next = waiter.next;
		}
		else {
			this.head = waiter.next;
		}
		if (waiter.next != null) {
			waiter.next.previous = waiter.previous;
		}
		else {
			this.tail = waiter.previous;
		}
		waiter.previous = null;
		waiter.next = null;
		waiter.queued = false;
	}

	/** Returns all waiters in order. */
	List<KeyRequest> all() {
		List<KeyRequest> all = new ArrayList<>();
		for (KeyRequest waiter = this.head; waiter != null; waiter = waiter.next) {
			all.add(waiter);
		}
		return all;
	}

}
