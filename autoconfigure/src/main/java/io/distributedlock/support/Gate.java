package io.distributedlock.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.distributedlock.Holder;
import io.distributedlock.LockKey;
import io.distributedlock.LockProvider;
import io.distributedlock.OwnerId;

/**
 * The local queue for one key: of all requests in this process only the head asks the
 * store, and nobody asks while this process holds the lock.
 * <p>
 * Invariants, kept under the lock: at most one tenure is current; while none is, the head
 * of the queue has been signalled since it became head or since the tenure ended; a gate
 * without tenure and waiters is closed and never used again. The fields of the contest
 * belong to the head alone, which hands them on by leaving the queue under the lock.
 */
final class Gate {

	private final LockKey key;

	private final Gates gates;

	private final ReentrantLock lock = new ReentrantLock();

	private final WaiterQueue queue = new WaiterQueue();

	private @Nullable Tenure tenure;

	private boolean closed;

	/** How many answers the store gave to this gate. */
	private long answers;

	private LockProvider.Attempt.@Nullable Busy lastBusy;

	private @Nullable Throwable lastFailure;

	private final Contest contest = new Contest();

	/** Whether the head is about to ask the store, or is waiting for its answer. */
	private boolean asking;

	Gate(LockKey key, Gates gates) {
		this.key = key;
		this.gates = gates;
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Joins the end of the queue.
	 * @param waiter who joins
	 * @return the number of answers so far, or -1 if the gate is closed
	 */
	long join(Waiter waiter) {
		this.lock.lock();
		try {
			if (this.closed) {
				return -1;
			}
			this.queue.add(waiter);
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
			boolean turn = this.queue.head() == waiter && this.tenure == null;
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
			if (this.tenure != null) {
				return Verdict.HELD_HERE;
			}
			boolean answered = this.answers != answersAtArrival && this.lastFailure == null;
			if (answered || (this.lastBusy != null && !this.asking)) {
				return Verdict.BUSY;
			}
			waiter.overdue = true;
			return (this.queue.head() == waiter) ? Verdict.TURN : Verdict.UNANSWERED;
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
	LockProvider.Contender contender(LockProvider provider) {
		return this.contest.contender(provider, this.key, this::changed);
	}

	/** The owner id to ask with. Only the head calls it. */
	OwnerId owner() {
		return this.contest.owner();
	}

	/** The store said busy. Only the head calls it. */
	void busy(LockProvider.Attempt.Busy busy, boolean willWait) {
		this.lock.lock();
		List<Waiter> overdue;
		try {
			this.asking = false;
			this.contest.busy(willWait);
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
			this.contest.unclear(willWait);
			this.lastBusy = null;
			this.lastFailure = failure;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * The store granted the key to the head, which leaves the queue with the tenure.
	 * @param waiter the head
	 * @param tenure its tenure
	 */
	void granted(Waiter waiter, Tenure tenure) {
		List<Waiter> overdue;
		this.lock.lock();
		try {
			this.queue.remove(waiter);
			this.tenure = tenure;
			this.asking = false;
			this.contest.granted();
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
			boolean wasHead = this.queue.head() == waiter;
			this.asking &= !wasHead;
			this.queue.remove(waiter);
			successor = (wasHead && this.tenure == null) ? this.queue.head() : null;
			unused = closeIfUnused();
		}
		finally {
			this.lock.unlock();
		}
		passOn(successor, unused);
		return true;
	}

	/**
	 * A tenure has ended, and the store was told or knows.
	 * @param ended the tenure
	 */
	void ended(Tenure ended) {
		Waiter successor;
		boolean unused;
		this.lock.lock();
		try {
			if (this.tenure != ended) {
				return;
			}
			this.tenure = null;
			successor = this.queue.head();
			unused = closeIfUnused();
		}
		finally {
			this.lock.unlock();
		}
		passOn(successor, unused);
	}

	/** Tells every waiter to look again. */
	void signalAll() {
		List<Waiter> waiters;
		this.lock.lock();
		try {
			waiters = this.queue.select((waiter) -> true);
		}
		finally {
			this.lock.unlock();
		}
		waiters.forEach(Waiter::signal);
	}

	/**
	 * Who is known to hold the key.
	 * @param now the present
	 * @return the holder, or {@code null} if not known
	 */
	@Nullable Holder holder(long now) {
		this.lock.lock();
		try {
			if (this.tenure != null) {
				return new Holder("this process", Duration.ofNanos(now - this.tenure.grantedAt()),
						Duration.ofNanos(Math.max(0, this.tenure.deadline() - now)));
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
			current = (this.tenure == null) ? this.queue.head() : null;
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
			this.gates.remove(this, this.contest.standing());
		}
	}

	private boolean closeIfUnused() {
		this.closed = this.queue.head() == null && this.tenure == null;
		return this.closed;
	}

	private List<Waiter> overdue() {
		return this.queue.select((waiter) -> waiter.overdue);
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
