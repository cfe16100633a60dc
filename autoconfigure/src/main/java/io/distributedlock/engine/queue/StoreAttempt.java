package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.StoreCall;

/**
 * One attempt of a {@link KeyQueue} in the store. It belongs to the queue, not to the
 * request that began it: if that one leaves, the attempt goes on, and its grant goes to
 * the next request with the same terms.
 * <p>
 * The first attempt for a key that nobody else in this process wants is made before its
 * request is in the queue, and that request takes the answer itself. The request enters
 * the queue, before all others, if the answer is not a grant or does not come in time.
 * <p>
 * The fields are guarded by the lock of the queue, but for the call, which is made
 * outside it: a call that begins while the attempt is given up is abandoned by whoever
 * comes second.
 */
final class StoreAttempt {

	private static final Object GIVEN_UP = new Object();

	private final KeyContest contest;

	private final OwnerId owner;

	private final KeyRequest requester;

	private @Nullable LockContender contender;

	private Duration lease;

	private boolean willWait;

	private boolean cut;

	private long timeoutNanos;

	private long deadlineNanos;

	private long sentNanos;

	private boolean begun;

	private volatile boolean interrupted;

	/** Whether the requester takes the answer, as it is not in the queue. */
	private volatile boolean first;

	/** Whether a request has the grant; guarded by the lock of the queue. */
	private boolean given;

	/** Whether the attempt was given up before its sender had a call. */
	private volatile boolean givenUpUnsent;

	/** The {@link StoreCall}, or {@link #GIVEN_UP}. */
	private final AtomicReference<@Nullable Object> call = new AtomicReference<>();

	/**
	 * Prepares an attempt.
	 * @param owner the owner id to be granted
	 * @param requester the request that begins the attempt
	 * @param willWait whether this process joins the wait queue if the key is busy
	 * @param deadlineNanos the end of the attempt if it is not sent before
	 */
	StoreAttempt(KeyContest contest, OwnerId owner, KeyRequest requester, boolean willWait, long deadlineNanos) {
		this.contest = contest;
		this.owner = owner;
		this.requester = requester;
		this.lease = requester.terms().lease();
		this.willWait = willWait;
		this.deadlineNanos = deadlineNanos;
	}

	KeyContest contest() {
		return this.contest;
	}

	OwnerId owner() {
		return this.owner;
	}

	KeyRequest requester() {
		return this.requester;
	}

	/** Returns the contender that sends the attempt. */
	LockContender contender() {
		return Objects.requireNonNull(this.contender);
	}

	/** Returns the lease that the store is asked for. */
	Duration lease() {
		return this.lease;
	}

	boolean willWait() {
		return this.willWait;
	}

	/** Whether nobody has sent the attempt yet. */
	boolean isPrepared() {
		return this.contender == null;
	}

	/** Whether the call gets less time than a store may need for its answer. */
	boolean isCut() {
		return this.cut;
	}

	long sentNanos() {
		return this.sentNanos;
	}

	long deadlineNanos() {
		return this.deadlineNanos;
	}

	/**
	 * Whether a grant of this attempt can be given to a request. With a shortest hold,
	 * the store may keep it for too short a time for another request that waits for
	 * further keys. A share is for those who came before it was asked for: since then
	 * other processes may have been granted shares too, with higher tokens.
	 */
	boolean suits(KeyRequest request) {
		if (request == this.requester) {
			return true;
		}
		boolean late = this.owner.isShare() && request.budget().startNanos() - this.sentNanos > 0;
		LockTerms terms = request.terms();
		return !late && this.requester.terms().suit(terms) && (terms.minHold() == null || request.isAlone());
	}

	/** Whether the requester takes the answer, as it is not in the queue. */
	boolean isFirst() {
		return this.first;
	}

	/** Lets the requester take the answer, before anybody else knows of the attempt. */
	StoreAttempt asFirst() {
		this.first = true;
		return this;
	}

	/** Lets the queue take the answer. */
	void leaveToQueue() {
		this.first = false;
	}

	/** Records that a request has the grant, which is not released any more. */
	void give() {
		this.given = true;
		leaveToQueue();
	}

	boolean isGiven() {
		return this.given;
	}

	/**
	 * Records that the current thread sends the attempt now.
	 * @param cut whether the rest of the budget is shorter than a call may take
	 */
	void beginSend(LockContender contender, long nowNanos, long timeoutNanos, boolean cut) {
		this.contender = contender;
		this.cut = cut;
		this.sentNanos = nowNanos;
		this.lease = this.requester.attemptLease();
		this.timeoutNanos = timeoutNanos;
		this.deadlineNanos = nowNanos + timeoutNanos;
	}

	/** Lets this process not join the wait queue, which it is leaving just now. */
	void stayOutOfWaitQueue() {
		this.willWait = false;
	}

	/**
	 * Sends the attempt; called once, without the lock of the queue.
	 * @param mayBlock whether the current thread waits for the answer
	 */
	void send(boolean mayBlock) {
		this.begun = true;
		boolean sent = false;
		boolean abandoned = false;
		try {
			if (this.first) {
				this.contest.meetWithdrawal(this);
			}
			Duration timeout = Duration.ofNanos(this.timeoutNanos);
			LockContender used = contender();
			sent = true;
			StoreCall<AttemptResult> call = mayBlock
					? used.attemptBlocking(this.owner, this.lease, this.willWait, timeout)
					: used.attempt(this.owner, this.lease, this.willWait, timeout);
			this.interrupted = Thread.currentThread().isInterrupted();
			if (!this.call.compareAndSet(null, call)) {
				abandoned = true;
				call.abandon();
			}
			else if (!this.first || !call.isDone()) {
				call.onDone(() -> done(call));
			}
		}
		catch (RuntimeException | Error ex) {
			this.interrupted = Thread.currentThread().isInterrupted();
			this.contest.failed(this, ex, sent);
			abandoned |= this.givenUpUnsent;
		}
		if (abandoned) {
			this.contest.endAbandoned(contender(), this.willWait);
		}
	}

	/**
	 * Handles an answer that may be left to the requester. Called without the lock.
	 * @return {@code false} if there is none yet
	 */
	boolean handleAnswer() {
		StoreCall<AttemptResult> done = doneCall();
		if (done != null) {
			this.contest.answered(this, done);
		}
		return done != null;
	}

	/** Whether its sender has begun to send it; asked by the sender. */
	boolean isBegun() {
		return this.begun;
	}

	/** Whether the sender was interrupted when the call had ended or begun. */
	boolean wasInterrupted() {
		return this.interrupted;
	}

	/** Whether the attempt was given up before its sender had a call. */
	boolean isAbandonedUnsent() {
		return this.givenUpUnsent;
	}

	private void done(StoreCall<AttemptResult> ended) {
		if (this.first) {
			this.requester.signal();
		}
		else {
			this.contest.answered(this, ended);
		}
	}

	/** Returns the call if it is done, unless the attempt was given up. */
	@SuppressWarnings("unchecked") // the only call of an attempt
	@Nullable StoreCall<AttemptResult> doneCall() {
		return (this.call.get() instanceof StoreCall<?> begun && begun.isDone()) ? (StoreCall<AttemptResult>) begun
				: null;
	}

	/**
	 * Gives up an attempt that was sent; called once.
	 * @return the call, or {@code null} if the sender has none yet: it abandons its call
	 */
	@Nullable StoreCall<?> giveUp() {
		StoreCall<?> known = (this.call.getAndSet(GIVEN_UP) instanceof StoreCall<?> begun) ? begun : null;
		this.givenUpUnsent = known == null;
		return known;
	}

	/**
	 * Abandons the call of an attempt that was given up, and releases what it may have
	 * been granted.
	 */
	void abandon(@Nullable StoreCall<?> known) {
		boolean sent = true;
		try {
			if (known != null) {
				known.abandon();
				sent = known.mayHaveBeenSent();
			}
		}
		finally {
			if (sent) {
				this.contest.release(this, false);
			}
		}
	}

}
