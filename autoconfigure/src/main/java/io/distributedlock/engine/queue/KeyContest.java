package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.engine.release.Withdrawal;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.StoreCall;

/**
 * The contest of this process in the store, while the {@link KeyQueue} has waiters or an
 * attempt: how each attempt is prepared, sent and ends, when the next one is due, and
 * what the waiters can conclude from the answers.
 * <p>
 * Invariant: there is at most one attempt. Only the attempt under way uses the contender,
 * and the contest once nothing is under way. Guarded by the lock of the queue; methods
 * are called under it, unless they say otherwise.
 */
final class KeyContest {

	private final KeyQueue queue;

	private final EngineContext engine;

	private final QueueMutex mutex;

	/**
	 * Created when needed, as the pacing is: most contests end with their first answer.
	 */
	private @Nullable KeyAnswers answers;

	private @Nullable StoreAttempt attempt;

	private @Nullable LockContender contender;

	/**
	 * The owner id for the next grant: kept while busy, dropped once granted or unclear,
	 * or once a release of it is pending, which could end a later grant.
	 */
	private @Nullable OwnerId owner;

	/** Whether the wait queue in the store may have an entry of this process. */
	private boolean enqueued;

	private @Nullable AttemptPacing pacing;

	KeyContest(KeyQueue queue, EngineContext engine, QueueMutex mutex) {
		this.queue = queue;
		this.engine = engine;
		this.mutex = mutex;
	}

	KeyQueue queue() {
		return this.queue;
	}

	KeyAnswers answers() {
		if (this.answers == null) {
			this.answers = new KeyAnswers();
		}
		return this.answers;
	}

	@Nullable StoreAttempt attempt() {
		return this.attempt;
	}

	AttemptPacing pacing() {
		if (this.pacing == null) {
			this.pacing = new AttemptPacing();
		}
		return this.pacing;
	}

	/** Records the grant that an attempt has brought. */
	void recordGrant() {
		if (this.answers != null) {
			this.answers.record(null, this.mutex);
		}
	}

	/** Prepares the attempt of the head. */
	void prepare(KeyRequest head, boolean mayWait) {
		this.attempt = new StoreAttempt(this, nextOwner(), head, mayWait, head.budget().endNanos());
	}

	private OwnerId nextOwner() {
		OwnerId current = this.owner;
		if (current == null) {
			current = this.engine.environment().newOwnerId().ofShare(this.queue.shares != null);
			this.owner = current;
		}
		return current;
	}

	/**
	 * Prepares the attempt of the only request for a key, which takes the answer itself.
	 * Called before anybody else knows the contest.
	 * @param request the request, which is not in the queue
	 * @return the attempt, or {@code null} if the time of the request is over
	 */
	@Nullable StoreAttempt prepareFirst(KeyRequest request) {
		WaitBudget budget = request.budget();
		long now = this.engine.nanoTime();
		long timeout = budget.attemptTimeoutNanos(now);
		if (timeout <= 0) {
			return null;
		}
		StoreAttempt first = new StoreAttempt(this, nextOwner(), request, budget.mayWait(now), budget.endNanos())
			.asFirst();
		// Before the contender, which may notify at once.
		this.attempt = first;
		this.contender = newContender();
		first.beginSend(this.contender, now, timeout, timeout < budget.callTimeoutNanos());
		return first;
	}

	/**
	 * Lets a first attempt keep out of the wait queue while an entry of this process is
	 * being withdrawn from it. Called without the lock.
	 */
	void meetWithdrawal(StoreAttempt first) {
		if (!this.engine.pendingReleases().hasWithdrawals()) {
			return;
		}
		this.mutex.lock();
		try {
			if (this.attempt == first) {
				record(this.engine.pendingReleases().cancelWithdrawal(this.queue.shareKey), first);
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Ends an attempt whose sender has left before it began to send, because of an error.
	 * Called without the lock.
	 */
	void dropUnsent(StoreAttempt current) {
		if (current.isBegun()) {
			return;
		}
		boolean abandoned;
		this.mutex.lock();
		try {
			// Whoever gives the attempt up does so under the lock.
			abandoned = current.isAbandonedUnsent();
			if (this.attempt == current) {
				this.attempt = null;
				this.queue.signalHeadOrClose();
			}
		}
		finally {
			this.mutex.unlock();
		}
		if (abandoned) {
			endAbandoned(current.contender(), false);
		}
	}

	/** An entry that is being withdrawn would take the new one along. */
	private void record(Withdrawal withdrawal, StoreAttempt current) {
		if (withdrawal.cancelled() != null) {
			this.enqueued = true;
			this.mutex.follow(withdrawal.cancelled());
		}
		if (withdrawal.isUnderWay()) {
			current.stayOutOfWaitQueue();
		}
	}

	private LockContender newContender() {
		return Objects.requireNonNull(KeyShares.newContender(this.queue), "The provider returned no contender");
	}

	/**
	 * Sends the prepared attempt, unless another thread does. Called without the lock.
	 * @param sender the budget of a sender that waits for the call, which it bounds too
	 */
	void send(@Nullable WaitBudget sender) {
		LockContender created = null;
		try {
			if (needsContender()) {
				created = newContender();
			}
		}
		catch (RuntimeException | Error ex) {
			failPrepared(ex);
			return;
		}
		StoreAttempt current;
		this.mutex.lock();
		try {
			current = this.attempt;
			KeyRequest head = this.queue.head();
			long now = this.engine.nanoTime();
			long timeout = (head != null) ? head.budget().attemptTimeoutNanos(now) : 0;
			if (sender != null) {
				timeout = Math.min(timeout, sender.attemptTimeoutNanos(now));
			}
			if (head == null || current == null || !current.isPrepared() || timeout <= 0) {
				closeUnused(created);
				return;
			}
			if (this.contender == null) {
				this.contender = created;
			}
			else {
				closeUnused(created);
			}
			LockContender present = this.contender;
			if (present == null) {
				// An attempt that was given up has taken the contender along just now.
				this.mutex.follow(head::signal);
				return;
			}
			current.beginSend(present, now, timeout, timeout < head.budget().callTimeoutNanos());
			record(this.engine.pendingReleases().cancelWithdrawal(this.queue.shareKey), current);
			pacing().recordSent();
		}
		finally {
			this.mutex.unlock();
		}
		// A thread of the requester may wait for the store; others wait for that thread.
		current.send(sender != null && this.engine.isBlocking());
	}

	private boolean needsContender() {
		this.mutex.lock();
		try {
			return this.attempt != null && this.attempt.isPrepared() && this.contender == null;
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void closeUnused(@Nullable LockContender created) {
		if (created != null) {
			this.mutex.follow(created::close);
		}
	}

	/**
	 * Leaves to the sender of an attempt the contender that the attempt has taken along,
	 * as it was given up meanwhile. Called without the lock.
	 */
	void endAbandoned(LockContender used, boolean enqueued) {
		this.engine.pendingReleases().end(this.queue.shareKey, used, enqueued).run();
	}

	/** Fails an attempt that could not be sent. Called without the lock. */
	void failed(StoreAttempt current, Throwable cause, boolean mayHaveBeenSent) {
		ended(current, null, AttemptFailure.of(cause, mayHaveBeenSent));
	}

	/** Fails the prepared attempt, which nobody can send. Called without the lock. */
	void failPrepared(Throwable cause) {
		this.mutex.lock();
		try {
			StoreAttempt current = this.attempt;
			if (current != null && current.isPrepared()) {
				this.attempt = null;
				failed(current, AttemptFailure.of(cause, false), this.engine.nanoTime());
				this.queue.signalHeadOrClose();
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	/** Handles the end of an attempt that was sent. Called without the lock. */
	void answered(StoreAttempt current, StoreCall<AttemptResult> call) {
		AttemptResult result = null;
		AttemptFailure failure = null;
		try {
			result = call.result();
		}
		catch (RuntimeException | Error ex) {
			failure = AttemptFailure.of(ex, call.mayHaveBeenSent());
		}
		ended(current, result, failure);
	}

	/** One that was given up, or has ended, has no effect any more. */
	private void ended(StoreAttempt current, @Nullable AttemptResult result, @Nullable AttemptFailure failure) {
		this.mutex.lock();
		try {
			if (this.attempt != current) {
				return;
			}
			this.attempt = null;
			try {
				handle(current, result, failure, this.engine.nanoTime());
			}
			finally {
				this.queue.signalHeadOrClose();
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void handle(StoreAttempt current, @Nullable AttemptResult result, @Nullable AttemptFailure failure,
			long now) {
		try {
			if (result instanceof AttemptResult.Granted granted) {
				granted(current, granted, now);
				return;
			}
			this.queue.enter(current);
			if (failure != null && this.engine.isBlocking() && current.wasInterrupted()) {
				// The failure is that of the interrupted thread only, which leaves by
				// itself.
				recordFailure(current, failure, now);
			}
			else if (failure != null) {
				failed(current, failure, now);
			}
			else {
				busy(current, (AttemptResult.Busy) Objects.requireNonNull(result), now);
			}
		}
		catch (RuntimeException | Error ex) {
			if (this.queue.grant() != null || current.isGiven()) {
				throw ex;
			}
			// An answer that cannot be used is none: what was granted is released.
			this.queue.enter(current);
			failed(current, AttemptFailure.of(ex, true), now);
		}
	}

	/** Gives a grant to the requester of a first attempt, or to the head. */
	private void granted(StoreAttempt current, AttemptResult.Granted granted, long now) {
		this.owner = null;
		this.enqueued = false;
		if (this.pacing != null) {
			this.pacing.recordAnswer();
		}
		KeyRequest next = current.isFirst() ? current.requester() : this.queue.head();
		if (next == null || !current.suits(next)) {
			this.mutex.follow(() -> release(current, true));
			return;
		}
		LockProviderException refusal = this.queue.begin(granted.grant(), current, next, now);
		if (refusal != null) {
			this.mutex.follow(() -> release(current, true));
			this.queue.enter(current);
			failed(current, new AttemptFailure(refusal, false), now);
		}
	}

	private void busy(StoreAttempt current, AttemptResult.Busy busy, long now) {
		if (!busy.asked()) {
			this.enqueued = true;
			pacing().recordNotAsked(answers().hasOverdue() ? Duration.ZERO : busy.retryAfter(), now);
			return;
		}
		if (busy.releasePending()) {
			this.owner = null;
		}
		this.enqueued |= current.willWait();
		pacing().recordBusy(current.willWait(), busy.retryAfter(), now);
		answers().record(new RequestOutcome.Busy(busy.holder()), this.mutex);
	}

	/** Records an attempt without an answer. Its owner id is never used again. */
	private void recordFailure(StoreAttempt current, AttemptFailure failure, long now) {
		this.owner = null;
		this.enqueued |= current.willWait() && failure.unclear();
		pacing().recordFailure(now);
		if (failure.unclear()) {
			this.mutex.follow(() -> release(current, false));
		}
	}

	/**
	 * Tells the head, unless it may ask again; the others conclude at their time-outs.
	 */
	private void failed(StoreAttempt current, AttemptFailure failure, long now) {
		recordFailure(current, failure, now);
		KeyRequest head = this.queue.head();
		RequestOutcome latest = answers().latest();
		if (head != null && current.isCut() && failure.isTimeout() && answers().areNewFor(head)
				&& latest instanceof RequestOutcome.Busy) {
			// A call that got less than its time says nothing; the answer before it does.
			if (!head.budget().mayWait(now)) {
				this.queue.tell(head, latest);
			}
			return;
		}
		RequestOutcome outcome = answers().recordFailure(failure, current, head, this.mutex);
		if (head != null && !(failure.mayPass() && head.budget().mayRetry(now, pacing().failingNanos(now)))) {
			this.queue.tell(head, outcome);
		}
	}

	/**
	 * Releases what an attempt was granted, or may have been. Called without the lock.
	 */
	void release(StoreAttempt current, boolean answerSeen) {
		this.engine.pendingReleases().release(this.queue.shareKey, current.owner(), current.lease(), answerSeen);
	}

	/**
	 * Gives up an attempt that has taken too long. A blocking call ends by itself once it
	 * was sent.
	 */
	void giveUpIfOverdue(long now) {
		StoreAttempt current = this.attempt;
		if (current != null && Nanos.isPast(current.deadlineNanos(), now)
				&& (current.isPrepared() || !this.engine.isBlocking())) {
			giveUp(current, now);
		}
	}

	/** Gives up the attempt without an answer; its owner id is never used again. */
	private void giveUp(StoreAttempt current, long now) {
		LockProviderException failure = current.isPrepared() ? unanswered() : this.engine.failures().timedOut();
		if (!current.isPrepared()) {
			StoreCall<?> call = current.giveUp();
			if (call == null) {
				// The contender is left to the thread that is about to use it.
				this.contender = null;
			}
			this.enqueued |= current.willWait() && this.contender != null;
			this.mutex.follow(() -> current.abandon(call));
		}
		this.attempt = null;
		this.queue.enter(current);
		failed(current, new AttemptFailure(failure, false), now);
		this.queue.signalHeadOrClose();
	}

	/** The failure of a request whose time is over before the store has answered it. */
	LockProviderException unanswered() {
		StoreAttempt current = this.attempt;
		return (current != null && current.isPrepared()) ? this.engine.failures().notAsked(this.queue.key)
				: this.engine.failures().unanswered(this.queue.key, answers().latest());
	}

	/**
	 * Drops an attempt that was not sent, after the head has left. One that is under way
	 * is bounded by the next head, or by the timer if nobody waits for it.
	 */
	void headLeft() {
		StoreAttempt current = this.attempt;
		if (current == null) {
			return;
		}
		KeyRequest next = this.queue.head();
		if (current.isPrepared()) {
			this.attempt = null;
		}
		else if (next != null) {
			this.mutex.follow(next::signal);
		}
		else if (!this.engine.isBlocking()) {
			long delay = current.deadlineNanos() - this.engine.nanoTime();
			this.mutex.follow(() -> this.engine.environment().schedule(() -> expire(current), delay));
		}
	}

	private void expire(StoreAttempt current) {
		this.mutex.lock();
		try {
			if (this.attempt == current) {
				giveUp(current, this.engine.nanoTime());
			}
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Ends the contest, in which nothing is under way. The withdrawal of its entry from
	 * the store's wait queue is known at once, before another contest of the key can
	 * begin, and sent after the event.
	 */
	void end() {
		if (this.contender != null) {
			this.mutex
				.followFirst(this.engine.pendingReleases().end(this.queue.shareKey, this.contender, this.enqueued));
		}
	}

}
