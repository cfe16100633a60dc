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
 * The local queue for one key: of all requests in this process only the head asks the
 * store, and nobody asks while this process holds the lock.
 * <p>
 * Invariants, kept under the lock: at most one grant is current; while none is, the head
 * of the queue has been signalled since it became head or since the grant ended; a queue
 * without grant and waiters is closed and never used again. The fields of the contention
 * belong to the head alone, which hands them on by leaving the queue under the lock.
 */
final class KeyQueue {

	private final LockKey key;

	private final KeyQueueRegistry queues;

	private final ReentrantLock lock = new ReentrantLock();

	private final WaiterQueue waiters = new WaiterQueue();

	private @Nullable HeldGrant heldGrant;

	private boolean closed;

	/** How many answers the store gave to this queue. */
	private long answers;

	private AttemptResult.@Nullable Busy lastBusy;

	private @Nullable Throwable lastFailure;

	private final StoreContention contention = new StoreContention();

	/** Whether the head is about to ask the store, or is waiting for its answer. */
	private boolean asking;

	KeyQueue(LockKey key, KeyQueueRegistry queues) {
		this.key = key;
		this.queues = queues;
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Joins the end of the queue.
	 * @param waiter who joins
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

	/** Whether the waiter is the one to ask the store now, and from now on does so. */
	boolean takeTurn(Waiter waiter) {
		this.lock.lock();
		try {
			boolean turn = this.waiters.head() == waiter && this.heldGrant == null;
			this.asking |= turn;
			return turn;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * What a waiter whose time is over learns without having asked the store itself.
	 * @param waiter a waiter whose wait time has passed
	 * @param answersAtArrival what {@link #join} gave
	 * @return what is known; if nothing is, the waiter is signalled with the next answer
	 */
	Verdict verdict(Waiter waiter, long answersAtArrival) {
		this.lock.lock();
		try {
			if (this.heldGrant != null) {
				return Verdict.HELD_HERE;
			}
			boolean answered = this.answers != answersAtArrival && this.lastFailure == null;
			if (answered || (this.lastBusy != null && !this.asking)) {
				return Verdict.BUSY;
			}
			waiter.overdue = true;
			return (this.waiters.head() == waiter) ? Verdict.TURN : Verdict.UNANSWERED;
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

	/** The head's way to the store. Only the head calls it. */
	LockContender contender(LockProvider provider) {
		return this.contention.contender(provider, this.key, this::changed);
	}

	/** The owner id to ask with. Only the head calls it. */
	OwnerId owner() {
		return this.contention.owner();
	}

	/** The store said busy. Only the head calls it. */
	void busy(AttemptResult.Busy busy, boolean willWait) {
		this.lock.lock();
		List<Waiter> overdue;
		try {
			this.asking = false;
			this.contention.busy(willWait);
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

	/** The store's answer was lost or never came. Only the head calls it. */
	void unclear(@Nullable Throwable failure, boolean willWait) {
		this.lock.lock();
		try {
			this.asking = false;
			this.contention.unclear(willWait);
			this.lastBusy = null;
			this.lastFailure = failure;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * The store granted the key to the head, which leaves the queue with the grant.
	 * @param waiter the head
	 * @param heldGrant its grant
	 */
	void granted(Waiter waiter, HeldGrant heldGrant) {
		List<Waiter> overdue;
		this.lock.lock();
		try {
			this.waiters.remove(waiter);
			this.heldGrant = heldGrant;
			this.asking = false;
			this.contention.granted();
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
	 * Leaves the queue without the lock, passing the turn on to the new head. Does
	 * nothing for a waiter that is no longer queued.
	 * @param waiter who leaves
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
			this.asking &= !wasHead;
			this.waiters.remove(waiter);
			successor = (wasHead && this.heldGrant == null) ? this.waiters.head() : null;
			unused = closeIfUnused();
		}
		finally {
			this.lock.unlock();
		}
		passOn(successor, unused);
		return true;
	}

	/**
	 * A grant has ended, and the store was told or knows.
	 * @param ended the grant
	 */
	void ended(HeldGrant ended) {
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
		passOn(successor, unused);
	}

	/** Tells every waiter to look again. */
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
	 * Who is known to hold the key.
	 * @param now the present
	 * @return the holder, or {@code null} if not known
	 */
	@Nullable LockHolder holder(long now) {
		this.lock.lock();
		try {
			if (this.heldGrant != null) {
				return new LockHolder(ProcessLabel.get(), Duration.ofNanos(now - this.heldGrant.grantedAt()),
						Duration.ofNanos(Math.max(0, this.heldGrant.deadline() - now)));
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

	/** The head looks again, if it is waiting. */
	void changed() {
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

	private void passOn(@Nullable Waiter successor, boolean unused) {
		if (successor != null) {
			successor.signal();
		}
		else if (unused) {
			this.queues.remove(this, this.contention.standing());
		}
	}

	private boolean closeIfUnused() {
		this.closed = this.waiters.head() == null && this.heldGrant == null;
		return this.closed;
	}

	private List<Waiter> overdue() {
		return this.waiters.select((waiter) -> waiter.overdue);
	}

	/** What a waiter that did not ask the store itself can know. */
	enum Verdict {

		/** It is its turn: it asks the store itself. */
		TURN,
		/** This process holds the lock. */
		HELD_HERE,
		/** The store has answered since the waiter came, and it was not granted. */
		BUSY,
		/** The store has not answered since the waiter came. */
		UNANSWERED

	}

}
