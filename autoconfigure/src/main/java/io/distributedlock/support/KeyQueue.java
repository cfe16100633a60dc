package io.distributedlock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;

/**
 * The local queue of one key. Of all requests in this process only the head attempts to
 * acquire the key in the store, and none does while this process holds the lock.
 * <p>
 * Invariants, kept under the lock: at most one grant is current; while none is, the head
 * of the queue was signalled since it became the head or since the grant ended; a queue
 * without a grant and waiters is closed and never used again. Only the head accesses the
 * contention. It leaves the queue under the lock, which publishes the contention to the
 * next head.
 */
final class KeyQueue {

	private final LockKey key;

	private final KeyQueueRegistry queues;

	private final ReentrantLock lock = new ReentrantLock();

	private final WaiterQueue waiters = new WaiterQueue();

	private @Nullable HeldGrant heldGrant;

	private boolean closed;

	/** The number of answers of the store to this queue. */
	private long answers;

	private AttemptResult.@Nullable Busy lastBusy;

	private @Nullable Throwable lastFailure;

	private final StoreContention contention = new StoreContention();

	/** Whether the head is attempting, from its decision to the answer of the store. */
	private boolean attempting;

	KeyQueue(LockKey key, KeyQueueRegistry queues) {
		this.key = key;
		this.queues = queues;
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Joins the end of the queue.
	 * @param waiter the waiter that joins
	 * @return the number of answers so far, or -1 if the queue is closed
	 */
	long join(Waiter waiter) {
		this.lock.lock();
		try {
			if (this.closed) {
				return -1;
			}
			this.waiters.add(waiter);
			return this.answers;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether the waiter is the head and may attempt; if so, its attempt begins. */
	boolean beginAttempt(Waiter waiter) {
		this.lock.lock();
		try {
			boolean mayAttempt = this.waiters.head() == waiter && this.heldGrant == null;
			this.attempting |= mayAttempt;
			return mayAttempt;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Returns what is known of the lock when a waiter times out that has not attempted
	 * itself.
	 * @param waiter a waiter whose wait time has passed
	 * @param answersAtArrival the result of {@link #join}
	 * @return the status; after {@link TimeoutStatus#UNANSWERED} the next answer signals
	 * the waiter
	 */
	TimeoutStatus statusAtTimeout(Waiter waiter, long answersAtArrival) {
		this.lock.lock();
		try {
			if (this.heldGrant != null) {
				return TimeoutStatus.HELD_HERE;
			}
			boolean answered = this.answers != answersAtArrival && this.lastFailure == null;
			if (answered || (this.lastBusy != null && !this.attempting)) {
				return TimeoutStatus.BUSY;
			}
			waiter.overdue = true;
			return (this.waiters.head() == waiter) ? TimeoutStatus.HEAD : TimeoutStatus.UNANSWERED;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether the store's latest answer came after the arrival, and was busy. */
	boolean wasBusySince(long answersAtArrival) {
		this.lock.lock();
		try {
			return this.answers != answersAtArrival && this.lastBusy != null;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns the contender of the head. Only the head calls it. */
	LockContender contender(LockProvider provider) {
		return this.contention.contender(provider, this.key, this::signalHead);
	}

	/** Returns the owner id of the next attempt. Only the head calls it. */
	OwnerId owner() {
		return this.contention.owner();
	}

	/** Records a busy answer. Only the head calls it. */
	void recordBusy(AttemptResult.Busy busy, boolean willWait) {
		this.lock.lock();
		List<Waiter> overdue;
		try {
			this.attempting = false;
			this.contention.recordBusy(willWait);
			this.lastBusy = busy;
			this.lastFailure = null;
			this.answers++;
			overdue = overdue();
		}
		finally {
			this.lock.unlock();
		}
		overdue.forEach(Waiter::signal);
	}

	/** Records an attempt without an answer. Only the head calls it. */
	void recordFailure(@Nullable Throwable failure, boolean willWait) {
		this.lock.lock();
		try {
			this.attempting = false;
			this.contention.recordFailure(willWait);
			this.lastBusy = null;
			this.lastFailure = failure;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Records a grant. The head leaves the queue with it.
	 * @param waiter the head
	 * @param heldGrant its grant
	 */
	void recordGrant(Waiter waiter, HeldGrant heldGrant) {
		List<Waiter> overdue;
		this.lock.lock();
		try {
			this.waiters.remove(waiter);
			this.heldGrant = heldGrant;
			this.attempting = false;
			this.contention.recordGrant();
			this.lastBusy = null;
			this.lastFailure = null;
			this.answers++;
			overdue = overdue();
		}
		finally {
			this.lock.unlock();
		}
		overdue.forEach(Waiter::signal);
	}

	/**
	 * Removes a waiter without the lock, and signals the new head. Does nothing for a
	 * waiter that is no longer queued.
	 * @param waiter the waiter that leaves
	 * @return whether it was queued
	 */
	boolean leave(Waiter waiter) {
		Waiter successor;
		boolean unused;
		this.lock.lock();
		try {
			if (!waiter.queued) {
				return false;
			}
			boolean wasHead = this.waiters.head() == waiter;
			this.attempting &= !wasHead;
			this.waiters.remove(waiter);
			successor = (wasHead && this.heldGrant == null) ? this.waiters.head() : null;
			unused = closeIfUnused();
		}
		finally {
			this.lock.unlock();
		}
		signalOrRemove(successor, unused);
		return true;
	}

	/**
	 * Records the end of a grant, after the store has recorded it too.
	 * @param ended the grant
	 */
	void recordEnd(HeldGrant ended) {
		Waiter successor;
		boolean unused;
		this.lock.lock();
		try {
			if (this.heldGrant != ended) {
				return;
			}
			this.heldGrant = null;
			successor = this.waiters.head();
			unused = closeIfUnused();
		}
		finally {
			this.lock.unlock();
		}
		signalOrRemove(successor, unused);
	}

	/** Signals every waiter. */
	void signalAll() {
		List<Waiter> all;
		this.lock.lock();
		try {
			all = this.waiters.select((waiter) -> true);
		}
		finally {
			this.lock.unlock();
		}
		all.forEach(Waiter::signal);
	}

	/**
	 * Returns the known holder of the key.
	 * @param nowNanos the present
	 * @return the holder, or {@code null} if not known
	 */
	@Nullable LockHolder holder(long nowNanos) {
		this.lock.lock();
		try {
			if (this.heldGrant != null) {
				return new LockHolder(ProcessLabel.get(), Duration.ofNanos(nowNanos - this.heldGrant.grantedNanos()),
						Duration.ofNanos(Math.max(0, this.heldGrant.deadlineNanos() - nowNanos)));
			}
			return (this.lastBusy != null) ? this.lastBusy.holder() : null;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Nullable Throwable lastFailure() {
		this.lock.lock();
		try {
			return this.lastFailure;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Signals the head, if there is no grant. */
	void signalHead() {
		Waiter current;
		this.lock.lock();
		try {
			current = (this.heldGrant == null) ? this.waiters.head() : null;
		}
		finally {
			this.lock.unlock();
		}
		if (current != null) {
			current.signal();
		}
	}

	private void signalOrRemove(@Nullable Waiter successor, boolean unused) {
		if (successor != null) {
			successor.signal();
		}
		else if (unused) {
			this.queues.remove(this, this.contention.enqueued());
		}
	}

	private boolean closeIfUnused() {
		this.closed = this.waiters.head() == null && this.heldGrant == null;
		return this.closed;
	}

	private List<Waiter> overdue() {
		return this.waiters.select((waiter) -> waiter.overdue);
	}

	/**
	 * The status of the lock for a waiter that times out and has not attempted itself.
	 */
	enum TimeoutStatus {

		/** The waiter is the head, and attempts itself. */
		HEAD,
		/** This process holds the lock. */
		HELD_HERE,
		/** The store has answered since the waiter joined, without a grant. */
		BUSY,
		/** The store has not answered since the waiter joined. */
		UNANSWERED

	}

}
