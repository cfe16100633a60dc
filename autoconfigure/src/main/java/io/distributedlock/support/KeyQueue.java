package io.distributedlock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockSnapshot;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.StoreCall;

/**
 * The local queue of one key, with its contest in the store. Of all requests of this
 * process only the head attempts to acquire the key in the store, and none does while
 * this process has a grant.
 * <p>
 * Each event is one call: a request arrives, is due, or leaves; an attempt ends; a grant
 * ends; the store notifies. Invariants, kept under the lock: there is at most one attempt
 * and at most one grant, and never both; while there is neither, the head is signalled, or
 * knows when it is due; a queue without waiters, attempt and grant is closed and never
 * used again. A grant and its hold are put in place in one step. What follows an event
 * runs after the lock was given back: nothing of the store and of the application runs
 * under it.
 */
final class KeyQueue {

	private static final Log logger = LogFactory.getLog(KeyQueue.class);

	/** How long a request waits at most for a signal that is on its way. */
	private static final long SIGNAL_NANOS = Duration.ofSeconds(10).toNanos();

	private final LockKey key;

	private final LockEngine engine;

	private final ReentrantLock lock = new ReentrantLock();

	private final WaiterQueue waiters = new WaiterQueue();

	/** Waiters whose wait time is over, and who wait only for the next answer. */
	private @Nullable List<KeyRequest> overdue;

	private @Nullable KeyContest contest;

	private @Nullable StoreAttempt attempt;

	private @Nullable HeldGrant grant;

	/** Counts what a waiter can conclude from: answers, failures, and ended grants. */
	private long answers;

	/** The latest of them, or {@code null} if it was a grant. */
	private @Nullable RequestOutcome lastAnswer;

	private boolean closed;

	/** What follows the event, once the lock is given back. */
	private @Nullable List<Runnable> following;

	KeyQueue(LockKey key, LockEngine engine) {
		this.key = key;
		this.engine = engine;
	}

	LockKey key() {
		return this.key;
	}

	private void unlock() {
		List<Runnable> actions = this.following;
		this.following = null;
		this.lock.unlock();
		if (actions != null) {
			actions.forEach(this::run);
		}
	}

	/** One action that fails drops no other. */
	private void run(Runnable action) {
		try {
			action.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("The engine failed to follow an event of lock '" + this.key + "'", ex);
		}
	}

	private void follow(Runnable action) {
		if (this.following == null) {
			this.following = new ArrayList<>(2);
		}
		this.following.add(action);
	}

	/** Adds a request to the end of the queue, and makes its first turn. */
	Turn arrive(KeyRequest request) {
		this.lock.lock();
		try {
			if (this.closed) {
				return Turn.CLOSED;
			}
			this.waiters.add(request);
			request.answersAtArrival = this.answers;
			return decide(request, this.engine.nanoTime());
		}
		finally {
			unlock();
		}
	}

	/** Decides what a request does now. */
	Turn turn(KeyRequest request) {
		if (request.isComplete()) {
			return Turn.DONE;
		}
		this.lock.lock();
		try {
			return decide(request, this.engine.nanoTime());
		}
		finally {
			unlock();
		}
	}

	private Turn decide(KeyRequest request, long now) {
		if (request.queued && this.engine.isStopping()) {
			end(request, new RequestOutcome.Failed(this.engine.shuttingDown(this.key)));
		}
		else if (request.queued && this.attempt != null && isOverdue(this.attempt, now)) {
			giveUp(this.attempt, now);
		}
		if (!request.queued) {
			request.waitUntil(now + SIGNAL_NANOS);
			return request.isComplete() ? Turn.DONE : Turn.WAIT;
		}
		boolean mayWait = request.budget().mayWait(now);
		RequestOutcome known = mayWait ? null : known(request, now);
		if (known != null) {
			return end(request, known);
		}
		if (request.budget().isOver(now)) {
			return end(request, new RequestOutcome.Failed(unanswered()));
		}
		if (this.grant == null && this.waiters.head() == request) {
			return (this.attempt != null) ? awaitAttempt(this.attempt, request, mayWait)
					: prepareAttempt(request, mayWait, now);
		}
		if (this.attempt != null && this.attempt.isPrepared() && request.mayBlock()) {
			// The head is still without a thread, and this request has one.
			return Turn.SEND;
		}
		if (!mayWait) {
			addOverdue(request);
		}
		return request.waitUntil(mayWait ? request.budget().waitUntilNanos() : request.budget().endNanos());
	}

	/**
	 * Whether an attempt has taken too long. A blocking call ends by itself once it was
	 * sent.
	 */
	private boolean isOverdue(StoreAttempt current, long now) {
		return Nanos.isPast(current.deadlineNanos(), now) && (current.isPrepared() || !this.engine.isBlocking());
	}

	/** What a request whose wait time is over can conclude without an attempt. */
	private @Nullable RequestOutcome known(KeyRequest request, long now) {
		if (this.grant != null) {
			return new RequestOutcome.Busy(new LockHolder(ProcessLabel.get(),
					Duration.ofNanos(now - this.grant.grantedNanos()),
					Duration.ofNanos(Math.max(0, this.grant.deadlineNanos() - now))));
		}
		boolean othersWait = this.waiters.head() != request && this.attempt == null
				&& this.lastAnswer instanceof RequestOutcome.Busy;
		if (!othersWait && this.answers == request.answersAtArrival) {
			return null;
		}
		return (this.lastAnswer instanceof RequestOutcome.Failed failed) ? again(failed) : this.lastAnswer;
	}

	/** Returns a failure for one more request, whose caller gets an exception of its own. */
	private RequestOutcome again(RequestOutcome.Failed failed) {
		return (failed.failure() instanceof LockProviderException known) ? new RequestOutcome.Failed(
				LockProviderException.nothingSent(known.error(), this.engine.provider().name(),
						"did not answer whether lock '" + this.key + "' is free: " + known.getMessage(), known))
				: failed;
	}

	private void addOverdue(KeyRequest request) {
		if (this.overdue == null) {
			this.overdue = new ArrayList<>();
		}
		if (!this.overdue.contains(request)) {
			this.overdue.add(request);
		}
	}

	/** Lets the head wait for an attempt, or send one that has not found a thread yet. */
	private Turn awaitAttempt(StoreAttempt current, KeyRequest head, boolean mayWait) {
		if (current.isPrepared() && head.mayBlock()) {
			return Turn.SEND;
		}
		long end = mayWait ? head.budget().waitUntilNanos() : head.budget().endNanos();
		return head.waitUntil(this.engine.isBlocking() ? end : Nanos.earlier(end, current.deadlineNanos()));
	}

	private Turn prepareAttempt(KeyRequest head, boolean mayWait, long now) {
		KeyContest current = contest();
		if (mayWait && !current.isDue(now)) {
			return head.waitUntil(Nanos.earlier(head.budget().waitUntilNanos(), current.retryAtNanos()));
		}
		this.attempt = new StoreAttempt(current.owner(this.engine.environment()), head.terms(), mayWait,
				head.budget().endNanos());
		head.waitUntil(head.budget().endNanos());
		return Turn.SEND;
	}

	private KeyContest contest() {
		if (this.contest == null) {
			this.contest = new KeyContest();
		}
		return this.contest;
	}

	/** Sends the prepared attempt, unless another thread does. */
	void send() {
		StoreAttempt current;
		LockContender contender;
		long timeout;
		this.lock.lock();
		try {
			current = this.attempt;
			KeyRequest head = this.waiters.head();
			long now = this.engine.nanoTime();
			timeout = (head != null) ? head.budget().attemptTimeoutNanos(now) : 0;
			if (current == null || !current.isPrepared() || timeout <= 0) {
				return;
			}
			current.beginSend(now, timeout, mayEnterWaitQueue());
			contest().recordSent();
			contender = contest().contender();
		}
		finally {
			unlock();
		}
		try {
			if (contender == null) {
				contender = this.engine.provider().newContender(this.key, this::notified);
				if (!adopt(contender, current)) {
					contender.close();
					return;
				}
			}
			if (!current.send(contender, timeout, (end) -> ended(current, end))) {
				this.engine.end(this.key, contender, current.willWait());
			}
		}
		catch (RuntimeException | Error ex) {
			ended(current, AttemptEnd.failed(ex, contender != null));
		}
	}

	/** Whether a new contender is that of the queue: its attempt was not given up. */
	private boolean adopt(LockContender created, StoreAttempt current) {
		this.lock.lock();
		try {
			if (this.attempt != current) {
				return false;
			}
			contest().setContender(created);
			return true;
		}
		finally {
			unlock();
		}
	}

	/** An entry that is being withdrawn would take the new one along. */
	private boolean mayEnterWaitQueue() {
		PendingReleaseQueue.Withdrawal withdrawal = this.engine.pendingReleases().cancelWithdrawal(this.key);
		if (withdrawal.cancelled() != null) {
			contest().recordEnqueued(true);
			follow(withdrawal.cancelled());
		}
		return !withdrawal.isUnderWay();
	}

	/** Fails the prepared attempt, for which there is no thread. */
	void failPrepared(Throwable cause) {
		LockProviderException failure = LockProviderException.nothingSent(LockError.STORE_FAILED,
				this.engine.provider().name(), "could not be called: there is no thread for the call", cause);
		this.lock.lock();
		try {
			StoreAttempt current = this.attempt;
			if (current != null && current.isPrepared()) {
				this.attempt = null;
				failed(current, new AttemptEnd.Failed(failure, false), this.engine.nanoTime());
				signalHead();
				closeIfUnused();
			}
		}
		finally {
			unlock();
		}
	}

	/** Handles the end of an attempt; one that was given up has no effect any more. */
	private void ended(StoreAttempt current, AttemptEnd end) {
		this.lock.lock();
		try {
			if (this.attempt != current) {
				return;
			}
			this.attempt = null;
			long now = this.engine.nanoTime();
			if (end instanceof AttemptEnd.Failed failed) {
				failed(current, failed, now);
			}
			else if (((AttemptEnd.Answered) end).result() instanceof AttemptResult.Granted granted) {
				granted(current, granted.grant(), now);
			}
			else {
				AttemptResult.Busy busy = (AttemptResult.Busy) ((AttemptEnd.Answered) end).result();
				contest().recordBusy(current.willWait(), busy.retryAfter(), now);
				record(new RequestOutcome.Busy(busy.holder()));
			}
			signalHead();
			closeIfUnused();
		}
		finally {
			unlock();
		}
	}

	/** Puts a grant and its hold in place, or gives the grant back. */
	private void granted(StoreAttempt current, LockGrant granted, long now) {
		contest().recordGrant();
		KeyRequest head = this.waiters.head();
		if (head == null || !current.suits(head)) {
			releaseUnwanted(current);
			return;
		}
		HeldGrant held = new HeldGrant(this, granted, head.terms(), current.sentNanos(), now);
		if (head.isAlone()) {
			held.beginHold(current.sentNanos(), head.terms().maxHold());
		}
		LockProviderException refusal = held.refusal(this.engine.provider().name(), now);
		if (refusal != null) {
			releaseUnwanted(current);
			failed(current, new AttemptEnd.Failed(refusal, false), now);
			return;
		}
		Hold hold = new Hold(this.engine, held, 0, head.requester());
		this.waiters.remove(head);
		this.grant = held;
		record(null);
		follow(() -> this.engine.begin(hold, head));
		endContestWithoutWaiters();
	}

	/** A held lock that nobody waits for keeps no contender. */
	private void endContestWithoutWaiters() {
		KeyContest ended = this.contest;
		if (ended != null && this.waiters.head() == null) {
			this.contest = null;
			follow(() -> this.engine.end(this.key, ended));
		}
	}

	private void releaseUnwanted(StoreAttempt current) {
		follow(() -> this.engine.pendingReleases().release(this.key, current.owner(), current.terms().lease(), true));
	}

	private void failed(StoreAttempt current, AttemptEnd.Failed end, long now) {
		contest().recordFailure(current.willWait() && end.unclear(), now);
		if (end.unclear()) {
			follow(() -> this.engine.pendingReleases()
				.release(this.key, current.owner(), current.terms().lease(), false));
		}
		RequestOutcome outcome = new RequestOutcome.Failed(end.failure());
		record(outcome);
		KeyRequest head = this.waiters.head();
		if (head != null && !(end.mayPass() && head.budget().mayWait(now))) {
			end(head, outcome);
			follow(head::signal);
		}
	}

	/** Records what waiters can conclude from, and lets those conclude that are overdue. */
	private void record(@Nullable RequestOutcome answer) {
		this.lastAnswer = answer;
		this.answers++;
		if (this.overdue != null) {
			this.overdue.forEach((waiter) -> follow(waiter::signal));
			this.overdue = null;
		}
	}

	/** Gives up an attempt without an answer; its owner id is never used again. */
	private void giveUp(StoreAttempt current, long now) {
		this.attempt = null;
		boolean sent = !current.isPrepared();
		if (sent) {
			StoreCall<?> call = current.giveUp();
			if (call == null) {
				contest().detachContender();
			}
			follow(() -> takeBack(current, call));
		}
		failed(current, new AttemptEnd.Failed(sent ? this.engine.timedOut() : unanswered(), false), now);
		contest().recordEnqueued(sent && current.willWait() && contest().contender() != null);
		signalHead();
		closeIfUnused();
	}

	private void takeBack(StoreAttempt current, @Nullable StoreCall<?> call) {
		boolean sent = true;
		try {
			if (call != null) {
				call.abandon();
				sent = call.mayHaveBeenSent();
			}
		}
		finally {
			if (sent) {
				this.engine.pendingReleases().release(this.key, current.owner(), current.terms().lease(), false);
			}
		}
	}

	private LockProviderException unanswered() {
		Throwable cause = (this.lastAnswer instanceof RequestOutcome.Failed failed) ? failed.failure() : null;
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, this.engine.provider().name(),
				"has not answered in time whether lock '" + this.key + "' is free", cause);
	}

	/** Removes a request with its outcome. */
	private Turn end(KeyRequest request, RequestOutcome outcome) {
		boolean wasHead = this.waiters.head() == request;
		this.waiters.remove(request);
		request.complete(outcome);
		if (wasHead && this.attempt != null) {
			headLeft(this.attempt);
		}
		signalHead();
		closeIfUnused();
		return Turn.DONE;
	}

	/**
	 * Drops an attempt that was not sent. One that is under way is bounded by the next
	 * head, or by the timer if nobody waits for it.
	 */
	private void headLeft(StoreAttempt current) {
		KeyRequest next = this.waiters.head();
		if (current.isPrepared()) {
			this.attempt = null;
		}
		else if (next != null) {
			follow(next::signal);
		}
		else if (!this.engine.isBlocking()) {
			long delay = current.deadlineNanos() - this.engine.nanoTime();
			follow(() -> this.engine.environment().schedule(() -> expire(current), delay));
		}
	}

	private void expire(StoreAttempt current) {
		this.lock.lock();
		try {
			if (this.attempt == current) {
				giveUp(current, this.engine.nanoTime());
			}
		}
		finally {
			unlock();
		}
	}

	/** Removes a request whose requester has left; does nothing for one that has ended. */
	void leave(KeyRequest request) {
		this.lock.lock();
		try {
			if (request.queued) {
				end(request, new RequestOutcome.Abandoned());
			}
		}
		finally {
			unlock();
		}
	}

	/**
	 * Handles the end of a grant, after the store has recorded it too.
	 * @param ended the grant
	 */
	void ended(HeldGrant ended) {
		this.lock.lock();
		try {
			if (this.grant == ended) {
				this.grant = null;
				// Whoever has come since the grant knows that the lock was busy.
				record(new RequestOutcome.Busy(null));
				if (this.contest != null) {
					this.contest.recordEnd();
				}
				signalHead();
				closeIfUnused();
			}
		}
		finally {
			unlock();
		}
	}

	/** Handles a notification of the store that the key may be free. */
	void notified() {
		this.lock.lock();
		try {
			if (this.contest != null) {
				this.contest.recordNotified();
				signalHead();
			}
		}
		finally {
			unlock();
		}
	}

	/** Signals every waiter. */
	void signalAll() {
		this.lock.lock();
		try {
			this.waiters.all().forEach((waiter) -> follow(waiter::signal));
		}
		finally {
			unlock();
		}
	}

	/** Returns the requests that wait, in their order. */
	List<LockSnapshot.Waiting> waiting(long nowNanos) {
		this.lock.lock();
		try {
			return this.waiters.all().stream().map((waiter) -> waiter.view(nowNanos)).toList();
		}
		finally {
			unlock();
		}
	}

	/** Whether any request waits, or an attempt is under way. */
	boolean hasWaiters() {
		this.lock.lock();
		try {
			return this.waiters.head() != null || this.attempt != null;
		}
		finally {
			unlock();
		}
	}

	private void signalHead() {
		KeyRequest head = this.waiters.head();
		if (head != null && this.grant == null && this.attempt == null) {
			follow(head::signal);
		}
	}

	private void closeIfUnused() {
		if (!this.closed && this.waiters.head() == null && this.grant == null && this.attempt == null) {
			this.closed = true;
			KeyContest last = this.contest;
			follow(() -> this.engine.remove(this, last));
		}
	}

	/** What a request does next. */
	enum Turn {

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
