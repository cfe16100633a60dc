package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.provider.ProcessLabel;

/**
 * The local queue of one key, in which each request finds out what to do next. Of all
 * requests of this process only the head attempts to acquire the key in the store, and
 * none does while this process has a grant.
 * <p>
 * Each event is one call: a request arrives, is due, or leaves; an attempt ends; a grant
 * ends; the store notifies.
 */
final class KeyQueue {

	/** How long a request waits at most for a signal that is on its way. */
	private static final long SIGNAL_NANOS = Duration.ofSeconds(10).toNanos();

	private final KeyState state;

	private final KeyAttempts attempts;

	/**
	 * Creates the queue of a key.
	 * @param onClosed receives the key once nothing is left of the queue, which is never
	 * used again
	 */
	KeyQueue(LockKey key, EngineContext engine, Consumer<LockKey> onClosed) {
		this.state = new KeyState(key, engine, onClosed);
		this.attempts = new KeyAttempts(this.state, this::notified);
	}

	/** Adds a request to the end of the queue, and makes its first turn. */
	Turn arrive(Waiter waiter) {
		this.state.lock.lock();
		try {
			if (this.state.isClosed()) {
				return Turn.CLOSED;
			}
			long now = this.state.engine.nanoTime();
			if (this.state.grant != null && handOff().pickUpOnArrival(waiter, now)) {
				return Turn.DONE;
			}
			this.state.waiters().add(waiter);
			this.state.answers().recordArrival(waiter);
			return decide(waiter, now);
		}
		finally {
			this.state.lock.unlock();
		}
	}

	/** Decides what a request does now. */
	Turn turn(Waiter waiter) {
		if (waiter.isComplete()) {
			return Turn.DONE;
		}
		this.state.lock.lock();
		try {
			return decide(waiter, this.state.engine.nanoTime());
		}
		finally {
			this.state.lock.unlock();
		}
	}

	private Turn decide(Waiter waiter, long now) {
		if (waiter.queued && this.state.engine.stopState().isStopping()) {
			return end(waiter, new RequestOutcome.Failed(this.state.engine.failures().shuttingDown(this.state.key)));
		}
		StoreAttempt attempt = this.state.attempt;
		if (waiter.queued && attempt != null && this.attempts.isOverdue(now)) {
			this.attempts.giveUp(attempt, now);
			attempt = this.state.attempt;
		}
		if (!waiter.queued) {
			return waiter.isComplete() ? Turn.DONE : await(waiter, now + SIGNAL_NANOS);
		}
		if (this.state.grant != null && handOff().pickUpAsHead(waiter, now)) {
			return Turn.DONE;
		}
		boolean mayWait = waiter.budget().mayWait(now);
		RequestOutcome known = mayWait ? null : known(waiter, now);
		if (known != null) {
			return end(waiter, known);
		}
		if (waiter.budget().isOver(now)) {
			return end(waiter, new RequestOutcome.Failed(this.state.unanswered()));
		}
		if (attempt != null && attempt.isPrepared() && waiter.mayBlock()) {
			// The head may be without a thread, and this request has one.
			return Turn.SEND;
		}
		if (this.state.grant == null && this.state.head() == waiter) {
			return (attempt != null) ? awaitAttempt(attempt, waiter, mayWait) : prepareAttempt(waiter, mayWait, now);
		}
		if (!mayWait) {
			this.state.addOverdue(waiter);
		}
		return await(waiter, waiter.budget().nextDeadlineNanos(mayWait));
	}

	private Turn end(Waiter waiter, RequestOutcome outcome) {
		boolean wasHead = this.state.head() == waiter;
		this.attempts.end(waiter, outcome);
		if (wasHead) {
			handOff().headLeft();
		}
		return Turn.DONE;
	}

	private KeyHandOff handOff() {
		return new KeyHandOff(this.state);
	}

	private static Turn await(Waiter waiter, long instantNanos) {
		waiter.waitUntil(instantNanos);
		return Turn.WAIT;
	}

	/** What a request whose wait time is over can conclude without an attempt. */
	private @Nullable RequestOutcome known(Waiter waiter, long now) {
		HeldGrant grant = this.state.grant;
		if (grant != null) {
			return new RequestOutcome.Busy(LockHolder.of(ProcessLabel.get())
				.withHeldFor(Duration.ofNanos(now - grant.grantedNanos()))
				.withRemaining(Duration.ofNanos(Math.max(0, grant.deadlineNanos() - now))));
		}
		if (!this.state.answers().areNewFor(waiter)) {
			return null;
		}
		RequestOutcome latest = this.state.answers().latest();
		return (latest instanceof RequestOutcome.Failed failed)
				? this.state.engine.failures().again(this.state.key, failed) : latest;
	}

	/** Lets the head wait for the attempt, at most until it is overdue. */
	private Turn awaitAttempt(StoreAttempt current, Waiter head, boolean mayWait) {
		long end = head.budget().nextDeadlineNanos(mayWait);
		return await(head, this.state.engine.isBlocking() ? end : Nanos.earlier(end, current.deadlineNanos()));
	}

	private Turn prepareAttempt(Waiter head, boolean mayWait, long now) {
		KeyContest contest = this.state.contest();
		if (mayWait && !contest.isDue(now)) {
			return await(head, Nanos.earlier(head.budget().waitUntilNanos(), contest.retryAtNanos()));
		}
		this.attempts.prepare(head, mayWait);
		head.waitUntil(head.budget().endNanos());
		return Turn.SEND;
	}

	/** Sends the prepared attempt, unless another thread does. */
	void send() {
		this.attempts.send(null);
	}

	/** Sends the prepared attempt for a sender that waits for the call. */
	void send(Waiter sender) {
		this.attempts.send(sender.budget());
	}

	/** Fails the prepared attempt, for which there is no thread. */
	void failPrepared(Throwable cause) {
		this.attempts.failPrepared(this.state.engine.failures().noThread(cause));
	}

	/**
	 * Removes a request whose requester has left; does nothing for one that has ended.
	 */
	void leave(Waiter waiter) {
		this.state.lock.lock();
		try {
			if (waiter.queued) {
				end(waiter, new RequestOutcome.Abandoned());
			}
		}
		finally {
			this.state.lock.unlock();
		}
	}

	/**
	 * Ends a hold and offers its grant to the head.
	 * @return {@code false} if the hold has not ended
	 */
	boolean offerToNext(HeldGrant grant, int holdNumber) {
		this.state.lock.lock();
		try {
			return handOff().begin(grant, holdNumber);
		}
		finally {
			this.state.lock.unlock();
		}
	}

	/** Handles the end of a grant, after the store has recorded it too. */
	void ended(HeldGrant ended) {
		this.state.ended(ended);
	}

	/**
	 * Lets the head attempt, because the key may be free. The attempt of a thread that
	 * would have to wake up first is sent by the caller, such as a thread of the store's
	 * client, if that does not block.
	 */
	void notified() {
		boolean prepared = false;
		this.state.lock.lock();
		try {
			Waiter head = this.state.head();
			if (this.state.recordNotified() && head != null && maySendFor(head)) {
				this.attempts.prepare(head, true);
				prepared = true;
			}
			else {
				this.state.signalHeadOrClose();
			}
		}
		finally {
			this.state.lock.unlock();
		}
		if (prepared) {
			this.attempts.send(null);
		}
	}

	private boolean maySendFor(Waiter head) {
		return head.mayBlock() && !this.state.engine.isBlocking() && !this.state.engine.stopState().isStopping()
				&& head.budget().mayWait(this.state.engine.nanoTime());
	}

	/** Signals every waiter. */
	void signalAll() {
		this.state.signalAll();
	}

	/** Returns the requests that wait, in their order. */
	List<LockSnapshot.Waiting> waiting(long nowNanos) {
		return this.state.waiting(nowNanos);
	}

	/** Whether any request waits, or an attempt is under way. */
	boolean hasWaiters() {
		return this.state.hasWaiters();
	}

	/** What a request does next. */
	public enum Turn {

		/** It sends the attempt that was prepared. */
		SEND,
		/** It waits for a signal, or until the instant that it was given. */
		WAIT,
		/** It has its outcome. */
		DONE,
		/** The queue is closed: the request arrives at another one. */
		CLOSED

	}

}
