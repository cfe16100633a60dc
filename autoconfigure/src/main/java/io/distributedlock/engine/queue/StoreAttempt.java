package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

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
 * The fields are guarded by the lock of the queue, but for the call, which is made
 * outside it: a call that begins while the attempt is given up is abandoned by whoever
 * comes second.
 */
final class StoreAttempt {

	private static final Object GIVEN_UP = new Object();

	private final OwnerId owner;

	private final Waiter requester;

	private Duration lease;

	private boolean willWait;

	private boolean prepared = true;

	private boolean cut;

	private long deadlineNanos;

	private long sentNanos;

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
	StoreAttempt(OwnerId owner, Waiter requester, boolean willWait, long deadlineNanos) {
		this.owner = owner;
		this.requester = requester;
		this.lease = requester.terms().lease();
		this.willWait = willWait;
		this.deadlineNanos = deadlineNanos;
	}

	OwnerId owner() {
		return this.owner;
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
		return this.prepared;
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
	 * further keys.
	 */
	boolean suits(Waiter request) {
		LockTerms terms = request.terms();
		return request == this.requester
				|| (this.requester.terms().suit(terms) && (terms.minHold() == null || request.isAlone()));
	}

	/**
	 * Records that the current thread sends the attempt now.
	 * @param cut whether the rest of the budget is shorter than a call may take
	 * @param mayEnterWaitQueue whether this process may join the wait queue now
	 */
	void beginSend(long nowNanos, long timeoutNanos, boolean cut, boolean mayEnterWaitQueue) {
		this.prepared = false;
		this.cut = cut;
		this.sentNanos = nowNanos;
		this.lease = this.requester.attemptLease();
		this.deadlineNanos = nowNanos + timeoutNanos;
		this.willWait &= mayEnterWaitQueue;
	}

	/**
	 * Sends the attempt; called once, without the lock of the queue.
	 * @param contender the contender of the queue
	 * @param timeoutNanos how long the call may take
	 * @param onEnd receives the end of the call
	 * @return {@code false} if the attempt was given up meanwhile; the contender is then
	 * the caller's
	 */
	boolean send(LockContender contender, long timeoutNanos, Consumer<AttemptEnd> onEnd) {
		StoreCall<AttemptResult> begun = contender.attempt(this.owner, this.lease, this.willWait,
				Duration.ofNanos(timeoutNanos));
		if (!this.call.compareAndSet(null, begun)) {
			begun.abandon();
			return false;
		}
		begun.onDone(() -> onEnd.accept(end(begun)));
		return true;
	}

	private static AttemptEnd end(StoreCall<AttemptResult> done) {
		try {
			return new AttemptEnd.Answered(done.result());
		}
		catch (RuntimeException | Error ex) {
			return AttemptEnd.failed(ex, done.mayHaveBeenSent());
		}
	}

	/** Whether the attempt was given up before its sender had a call. */
	boolean isAbandonedUnsent() {
		return this.givenUpUnsent;
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

}
