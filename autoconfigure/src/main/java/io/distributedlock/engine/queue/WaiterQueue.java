package io.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of a {@link KeyQueue} in the order of their arrival. Any of them is removed
 * in constant time. Guarded by the lock of that queue.
 */
final class WaiterQueue {

	private @Nullable Waiter head;

	private @Nullable Waiter tail;

	@Nullable Waiter head() {
		return this.head;
	}

	void add(Waiter waiter) {
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

	void remove(Waiter waiter) {
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
	List<Waiter> all() {
		List<Waiter> all = new ArrayList<>();
		for (Waiter waiter = this.head; waiter != null; waiter = waiter.next) {
			all.add(waiter);
		}
		return all;
	}

}
