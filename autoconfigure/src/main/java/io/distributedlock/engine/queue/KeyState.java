package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.engine.release.Withdrawal;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;

/**
 * The state of one key in this process, which its lock guards.
 * <p>
 * Invariants: there is at most one attempt and at most one grant, and never both; while
 * there is neither, or the grant is offered, the head of the waiters is signalled, or
 * knows when it is due; a state without waiters, attempt and grant is closed and never
 * used again. Only the one attempt under way uses the contender, and the state once
 * nothing is under way.
 */
final class KeyState {

	final LockKey key;

	final EngineContext engine;

	/** Shared with other keys, since it is never held for long. */
	final QueueMutex lock;

	@Nullable StoreAttempt attempt;

	@Nullable HeldGrant grant;

	private final Consumer<LockKey> onClosed;

	/** What concerns the waiters is kept only while there are any. */
	private @Nullable WaiterQueue waiters;

	private @Nullable KeyAnswers answers;

	private @Nullable KeyContest contest;

	private boolean closed;

	/**
	 * Creates the state of a key without waiters.
	 * @param onClosed receives the key while the state closes, under its lock
	 */
	KeyState(LockKey key, EngineContext engine, Consumer<LockKey> onClosed) {
		this.key = key;
		this.lock = engine.locks().lock(key);
		this.engine = engine;
		this.onClosed = onClosed;
	}

	boolean isClosed() {
		return this.closed;
	}

	WaiterQueue waiters() {
		if (this.waiters == null) {
			this.waiters = new WaiterQueue();
		}
		return this.waiters;
	}

	@Nullable Waiter head() {
		return (this.waiters != null) ? this.waiters.head() : null;
	}

	KeyAnswers answers() {
		if (this.answers == null) {
			this.answers = new KeyAnswers();
		}
		return this.answers;
	}

	/** Puts a grant in place, which the head has left the queue with. */
	void begin(HeldGrant granted) {
		this.grant = granted;
		answers().record(null, this.lock);
		forgetIfNobodyWaits();
	}

	/** Removes a waiter that has picked the present grant up. */
	void removeHolder(Waiter waiter) {
		waiters().remove(waiter);
		forgetIfNobodyWaits();
	}

	private void forgetIfNobodyWaits() {
		if (head() == null) {
			endContest();
			this.waiters = null;
			this.answers = null;
		}
	}

	/** Returns the contest in the store, which begins when it is needed. */
	KeyContest contest() {
		if (this.contest == null) {
			this.contest = new KeyContest();
		}
		return this.contest;
	}

	/**
	 * Ends the contest. The withdrawal of its entry from the store's wait queue is known
	 * at once, before another contest of the key can begin, and sent after the event.
	 */
	private void endContest() {
		KeyContest ended = this.contest;
		this.contest = null;
		LockContender contender = (ended != null) ? ended.contender() : null;
		if (ended != null && contender != null) {
			this.lock.followFirst(this.engine.pendingReleases().end(this.key, contender, ended.isEnqueued()));
		}
	}

	/** The failure of a request whose time is over before the store has answered it. */
	LockProviderException unanswered() {
		return this.engine.failures().unanswered(this.key, answers().latest());
	}

	/** An entry that is being withdrawn would take the new one along. */
	boolean mayEnterWaitQueue() {
		Withdrawal withdrawal = this.engine.pendingReleases().cancelWithdrawal(this.key);
		if (withdrawal.cancelled() != null) {
			contest().recordEnqueued(true);
			this.lock.follow(withdrawal.cancelled());
		}
		return !withdrawal.isUnderWay();
	}

	/** Lets the head go on after an event; closes the state if nothing is left. */
	void signalHeadOrClose() {
		if (this.closed || this.grant != null || this.attempt != null) {
			return;
		}
		Waiter head = head();
		if (head != null) {
			this.lock.follow(head::signal);
			return;
		}
		endContest();
		this.closed = true;
		// Under the lock, so that whoever finds this state closed finds another one next.
		this.onClosed.accept(this.key);
		this.lock.follow(this.engine.stopState()::recordProgress);
	}

	/** Handles the end of a grant, after the store has recorded it too. */
	void ended(HeldGrant ended) {
		this.lock.lock();
		try {
			if (this.grant == ended) {
				this.grant = null;
				// Whoever has come since the grant knows that the lock was busy.
				answers().record(new RequestOutcome.Busy(null), this.lock);
				if (this.contest != null) {
					this.contest.recordEnd();
				}
				signalHeadOrClose();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Records that an attempt was answered, but not with a grant. */
	void recordBusy(boolean willWait, AttemptResult.Busy busy, long nowNanos) {
		if (busy.asked()) {
			contest().recordBusy(willWait, busy, nowNanos);
			answers().record(new RequestOutcome.Busy(busy.holder()), this.lock);
		}
		else {
			contest().recordNotAsked(answers().hasOverdue() ? Duration.ZERO : busy.retryAfter(), nowNanos);
		}
	}

	/**
	 * Adds a request that ends with the next answer of the store, for which the head asks
	 * at once.
	 */
	void addOverdue(Waiter waiter) {
		answers().addOverdue(waiter);
		if (this.grant == null && this.attempt == null && contest().endPauseWhileBusy()) {
			signalHeadOrClose();
		}
	}

	/**
	 * Records a notification of the store that the key may be free.
	 * @return whether the next attempt can be prepared
	 */
	boolean recordNotified() {
		if (this.contest != null) {
			this.contest.recordNotified();
		}
		return this.contest != null && this.grant == null && this.attempt == null;
	}

	/** Signals every waiter. */
	void signalAll() {
		this.lock.lock();
		try {
			if (this.waiters != null) {
				this.waiters.all().forEach((waiter) -> this.lock.follow(waiter::signal));
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns the requests that wait, in their order. */
	List<LockSnapshot.Waiting> waiting(long nowNanos) {
		this.lock.lock();
		try {
			return (this.waiters != null) ? this.waiters.all().stream().map((waiter) -> waiter.view(nowNanos)).toList()
					: List.of();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether any request waits, or an attempt is under way. */
	boolean hasWaiters() {
		this.lock.lock();
		try {
			return head() != null || this.attempt != null;
		}
		finally {
			this.lock.unlock();
		}
	}

}
