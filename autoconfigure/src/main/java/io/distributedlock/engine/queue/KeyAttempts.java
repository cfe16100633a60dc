package io.distributedlock.engine.queue;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.StoreCall;

/**
 * The attempts of this process for one key: how each is prepared, sent and ends. A grant
 * and its hold are put in place in one step. Its methods are called under the lock of the
 * {@link KeyState}, unless they say otherwise.
 */
final class KeyAttempts {

	private final KeyState state;

	private final Runnable onNotified;

	/**
	 * Creates the attempts of a key.
	 * @param onNotified handles a notification of the store that the key may be free
	 */
	KeyAttempts(KeyState state, Runnable onNotified) {
		this.state = state;
		this.onNotified = onNotified;
	}

	/** Prepares the attempt of the head. */
	void prepare(Waiter head, boolean mayWait) {
		this.state.attempt = new StoreAttempt(this.state.contest().owner(this.state.engine.environment()), head,
				mayWait, head.budget().endNanos());
	}

	/**
	 * Sends the prepared attempt, unless another thread does. Called without the lock.
	 * @param sender the budget of a sender that waits for the call, which it bounds too
	 */
	void send(@Nullable WaitBudget sender) {
		LockContender created = null;
		try {
			if (needsContender()) {
				created = Objects.requireNonNull(
						this.state.engine.provider().newContender(this.state.key, this.onNotified),
						"The provider returned no contender");
			}
		}
		catch (RuntimeException | Error ex) {
			failPrepared(ex);
			return;
		}
		StoreAttempt current;
		LockContender contender;
		long timeout;
		this.state.lock.lock();
		try {
			current = this.state.attempt;
			Waiter head = this.state.head();
			long now = this.state.engine.nanoTime();
			timeout = (head != null) ? head.budget().attemptTimeoutNanos(now) : 0;
			if (sender != null) {
				timeout = Math.min(timeout, sender.attemptTimeoutNanos(now));
			}
			if (head == null || current == null || !current.isPrepared() || timeout <= 0) {
				closeUnused(created);
				return;
			}
			contender = adopt(created);
			if (contender == null) {
				// An attempt that was given up has taken the contender along just now.
				this.state.lock.follow(head::signal);
				return;
			}
			current.beginSend(now, timeout, timeout < head.budget().callTimeoutNanos(), this.state.mayEnterWaitQueue());
			this.state.contest().recordSent();
		}
		finally {
			this.state.lock.unlock();
		}
		boolean abandoned;
		try {
			abandoned = !current.send(contender, timeout, (end) -> ended(current, end));
		}
		catch (RuntimeException | Error ex) {
			ended(current, AttemptEnd.failed(ex, true));
			abandoned = current.isAbandonedUnsent();
		}
		if (abandoned) {
			this.state.engine.pendingReleases().end(this.state.key, contender, current.willWait()).run();
		}
	}

	private boolean needsContender() {
		this.state.lock.lock();
		try {
			return this.state.attempt != null && this.state.attempt.isPrepared()
					&& this.state.contest().contender() == null;
		}
		finally {
			this.state.lock.unlock();
		}
	}

	/** Returns the contender of the contest, which keeps the first one. */
	private @Nullable LockContender adopt(@Nullable LockContender created) {
		LockContender present = this.state.contest().contender();
		if (present != null) {
			closeUnused(created);
			return present;
		}
		if (created != null) {
			this.state.contest().setContender(created);
		}
		return created;
	}

	private void closeUnused(@Nullable LockContender contender) {
		if (contender != null) {
			this.state.lock.follow(contender::close);
		}
	}

	/** Fails the prepared attempt, which nobody can send. Called without the lock. */
	void failPrepared(Throwable failure) {
		this.state.lock.lock();
		try {
			StoreAttempt current = this.state.attempt;
			if (current != null && current.isPrepared()) {
				this.state.attempt = null;
				failed(current, AttemptEnd.failed(failure, false), this.state.engine.nanoTime());
				this.state.signalHeadOrClose();
			}
		}
		finally {
			this.state.lock.unlock();
		}
	}

	/**
	 * Handles the end of an attempt; one that was given up has no effect any more. Called
	 * without the lock.
	 */
	private void ended(StoreAttempt current, AttemptEnd end) {
		this.state.lock.lock();
		try {
			if (this.state.attempt != current) {
				return;
			}
			this.state.attempt = null;
			try {
				handle(current, end, this.state.engine.nanoTime());
			}
			finally {
				this.state.signalHeadOrClose();
			}
		}
		finally {
			this.state.lock.unlock();
		}
	}

	private void handle(StoreAttempt current, AttemptEnd end, long now) {
		try {
			if (end instanceof AttemptEnd.Failed failed) {
				ended(current, failed, now);
			}
			else if (((AttemptEnd.Answered) end).result() instanceof AttemptResult.Granted granted) {
				granted(current, granted.grant(), now);
			}
			else {
				this.state.recordBusy(current.willWait(), (AttemptResult.Busy) ((AttemptEnd.Answered) end).result(),
						now);
			}
		}
		catch (RuntimeException | Error ex) {
			if (this.state.grant != null) {
				throw ex;
			}
			// An answer that cannot be used is none: what was granted is released.
			failed(current, AttemptEnd.failed(ex, true), now);
		}
	}

	private void ended(StoreAttempt current, AttemptEnd.Failed end, long now) {
		if (this.state.engine.isBlocking() && Thread.currentThread().isInterrupted()) {
			// The failure is that of the interrupted thread only, which leaves by itself.
			recordFailure(current, end, now);
		}
		else {
			failed(current, end, now);
		}
	}

	/** Puts a grant and its hold in place, or releases the grant. */
	private void granted(StoreAttempt current, LockGrant granted, long now) {
		this.state.contest().recordGrant();
		Waiter head = this.state.head();
		if (head == null || !current.suits(head)) {
			releaseLater(current, true);
			return;
		}
		HeldGrant held = new HeldGrant(granted, head.terms(), current.lease(), current.sentNanos(), now);
		if (head.isAlone()) {
			held.beginHold(current.sentNanos(), head.terms().maxHold());
		}
		LockProviderException refusal = held.refusal(this.state.engine.provider().name(), now);
		if (refusal != null) {
			releaseLater(current, true);
			failed(current, new AttemptEnd.Failed(refusal, false), now);
			return;
		}
		Hold hold = new Hold(this.state.engine.heldGrants(), held, 0, head.requester(), now);
		// Kept before the grant is put in place: one that does not begin would remain.
		this.state.lock.follow(() -> this.state.engine.holdStart().begin(hold, head));
		this.state.waiters().remove(head);
		this.state.begin(held);
	}

	private void releaseLater(StoreAttempt current, boolean answerSeen) {
		this.state.lock.follow(() -> release(current, answerSeen));
	}

	private void release(StoreAttempt current, boolean answerSeen) {
		this.state.engine.pendingReleases().release(this.state.key, current.owner(), current.lease(), answerSeen);
	}

	private void recordFailure(StoreAttempt current, AttemptEnd.Failed end, long now) {
		this.state.contest().recordFailure(current.willWait() && end.unclear(), now);
		if (end.unclear()) {
			releaseLater(current, false);
		}
	}

	/**
	 * Tells the head, unless it may ask again; the others conclude at their time-outs.
	 */
	private void failed(StoreAttempt current, AttemptEnd.Failed end, long now) {
		recordFailure(current, end, now);
		Waiter head = this.state.head();
		RequestOutcome latest = this.state.answers().latest();
		if (head != null && current.isCut() && end.isTimeout() && this.state.answers().areNewFor(head)
				&& latest instanceof RequestOutcome.Busy) {
			// A call that got less than its time says nothing; the answer before it does.
			if (!head.budget().mayWait(now)) {
				end(head, latest);
				this.state.lock.follow(head::signal);
			}
			return;
		}
		RequestOutcome outcome = this.state.answers().recordFailure(end, current, head, this.state.lock);
		if (head != null && !(end.mayPass() && head.budget().mayRetry(now, this.state.contest().failingNanos(now)))) {
			end(head, outcome);
			this.state.lock.follow(head::signal);
		}
	}

	/**
	 * Whether the attempt has taken too long. A blocking call ends by itself once it was
	 * sent.
	 */
	boolean isOverdue(long now) {
		StoreAttempt current = this.state.attempt;
		return current != null && Nanos.isPast(current.deadlineNanos(), now)
				&& (current.isPrepared() || !this.state.engine.isBlocking());
	}

	/** Gives up the attempt without an answer; its owner id is never used again. */
	void giveUp(StoreAttempt current, long now) {
		LockProviderException failure;
		if (current.isPrepared()) {
			failure = this.state.unanswered();
		}
		else {
			failure = this.state.engine.failures().timedOut();
			StoreCall<?> call = current.giveUp();
			if (call == null) {
				this.state.contest().detachContender();
			}
			this.state.contest().recordEnqueued(current.willWait() && this.state.contest().contender() != null);
			this.state.lock.follow(() -> abandon(current, call));
		}
		this.state.attempt = null;
		failed(current, new AttemptEnd.Failed(failure, false), now);
		this.state.signalHeadOrClose();
	}

	private void abandon(StoreAttempt current, @Nullable StoreCall<?> call) {
		boolean sent = true;
		try {
			if (call != null) {
				call.abandon();
				sent = call.mayHaveBeenSent();
			}
		}
		finally {
			if (sent) {
				release(current, false);
			}
		}
	}

	/** Removes a request with its outcome. */
	void end(Waiter waiter, RequestOutcome outcome) {
		boolean wasHead = this.state.head() == waiter;
		this.state.waiters().remove(waiter);
		waiter.complete(outcome);
		if (wasHead && this.state.attempt != null) {
			headLeft(this.state.attempt);
		}
		if (this.state.head() == null) {
			this.state.lock.follow(this.state.engine.stopState()::recordProgress);
		}
		this.state.signalHeadOrClose();
	}

	/**
	 * Drops an attempt that was not sent. One that is under way is bounded by the next
	 * head, or by the timer if nobody waits for it.
	 */
	private void headLeft(StoreAttempt current) {
		Waiter next = this.state.head();
		if (current.isPrepared()) {
			this.state.attempt = null;
		}
		else if (next != null) {
			this.state.lock.follow(next::signal);
		}
		else if (!this.state.engine.isBlocking()) {
			long delay = current.deadlineNanos() - this.state.engine.nanoTime();
			this.state.lock.follow(() -> this.state.engine.environment().schedule(() -> expire(current), delay));
		}
	}

	private void expire(StoreAttempt current) {
		this.state.lock.lock();
		try {
			if (this.state.attempt == current) {
				giveUp(current, this.state.engine.nanoTime());
			}
		}
		finally {
			this.state.lock.unlock();
		}
	}

}
