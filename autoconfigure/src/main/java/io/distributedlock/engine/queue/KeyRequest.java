package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.event.AcquireObservation;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.Hold;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.provider.AcquireOutcome;

/**
 * A request for one key, from its arrival to its outcome. The {@link KeyQueue} decides,
 * and the runner takes one step after the other.
 * <p>
 * The outcome is set once: by the queue, or by a requester who leaves before. A hold that
 * finds its requester gone is released.
 */
public final class KeyRequest implements RunningRequest {

	/** How often arrivals may overtake one head. */
	public static final int MAX_OVERTAKES = 8;

	/** How long arrivals may overtake one head, from the first offer to it. */
	public static final long MAX_OVERTAKING_NANOS = Duration.ofMillis(1).toNanos();

	private static final RequestOutcome ABANDONED = new RequestOutcome.Abandoned();

	/** The links of the {@link WaiterQueue}, guarded by the lock of the key's queue. */
	@Nullable KeyRequest previous;

	@Nullable KeyRequest next;

	/**
	 * Whether the request is in the queue; guarded by its lock, as the fields below are.
	 */
	public boolean queued;

	/** Whether the wait time is over, so that the next answer ends the wait. */
	boolean overdue;

	/** The number of answers that the queue had when the request arrived. */
	long answersAtArrival;

	/** Whether the grant of this process was offered to this request, and since when. */
	private boolean offered;

	private long offeredNanos;

	/** How often arrivals have picked up what was offered to this request. */
	private int overtakes;

	private final EngineContext engine;

	private final KeyQueueRegistry queues;

	private final LockKey key;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final RequestRunner runner;

	private final boolean alone;

	/** The observers, which have seen the start of the request. */
	private final @Nullable AcquireObservation observation;

	private final AtomicReference<@Nullable RequestOutcome> outcome = new AtomicReference<>();

	/** Accessed by the runner's steps only, as the fields below are. */
	private @Nullable KeyQueue queue;

	/** The attempt whose answer this request takes itself. */
	private @Nullable StoreAttempt first;

	/** Whether a thread was asked for an attempt before. */
	private boolean attempted;

	private long waitUntilNanos;

	/**
	 * Creates a request for one key.
	 * @param alone whether the hold begins with this key, or after further keys
	 */
	public KeyRequest(EngineContext engine, KeyQueueRegistry queues, LockKey key, LockTerms terms, WaitBudget budget,
			RequestRunner runner, boolean alone, @Nullable AcquireObservation observation) {
		this.engine = engine;
		this.queues = queues;
		this.key = key;
		this.terms = terms;
		this.budget = budget;
		this.runner = runner;
		this.alone = alone;
		this.observation = observation;
	}

	@Override
	public Progress step() {
		try {
			if (this.queue == null) {
				attemptFirst();
			}
			Turn turn = turn();
			while (turn == Turn.SEND && !isInterrupted()) {
				turn = send(Objects.requireNonNull(this.queue));
			}
			// An interrupted runner leaves before it attempts again.
			return (turn == Turn.WAIT || turn == Turn.SEND) ? Progress.WAIT : end();
		}
		catch (RuntimeException | Error ex) {
			report(isInterrupted() ? AcquireOutcome.INTERRUPTED : AcquireOutcome.FAILED, ex);
			throw ex;
		}
	}

	/**
	 * Attempts outside of any queue, if nobody in this process holds the key or waits for
	 * it.
	 */
	private void attemptFirst() {
		StoreAttempt opened = maySend() ? this.queues.openFor(this) : null;
		if (opened == null) {
			return;
		}
		// Known before the call: a request that fails during it leaves the queue.
		this.queue = opened.contest().queue();
		this.first = opened;
		if (this.engine.stopState().isStopping()) {
			// Whoever stops the engine waits only for attempts that were known before.
			opened.contest().failed(opened, this.engine.failures().shuttingDown(this.key), false);
		}
		else {
			opened.send(mayBlock());
		}
	}

	private Turn turn() {
		KeyQueue joined = this.queue;
		StoreAttempt attempted = this.first;
		if (joined == null) {
			return arrive();
		}
		if (attempted == null) {
			return joined.turn(this);
		}
		Turn turn = joined.turnOfFirst(this, attempted);
		if (turn != Turn.WAIT || !attempted.isFirst()) {
			this.first = null;
		}
		return turn;
	}

	/** Sends the attempt that the queue has prepared. */
	private Turn send(KeyQueue present) {
		if (!maySend()) {
			boolean repeated = this.attempted;
			this.attempted = true;
			this.engine.attemptThreads()
				.execute(NodeThreads.node(this.engine.provider(), this.key), repeated,
						() -> present.withContest((contest) -> contest.send(null)), (cause) -> present
							.withContest((contest) -> contest.failPrepared(this.engine.failures().noThread(cause))));
			return Turn.WAIT;
		}
		present.withContest((contest) -> contest.send(this.budget));
		return present.turn(this);
	}

	/**
	 * Whether this step may send an attempt: its call does not block, or it may block.
	 */
	private boolean maySend() {
		return !this.engine.isBlocking() || mayBlock();
	}

	private Turn arrive() {
		Turn turn;
		do {
			KeyQueue candidate = this.queues.queue(this);
			// Known before the arrival: a request that fails during it leaves the queue.
			this.queue = candidate;
			turn = candidate.arrive(this);
		}
		while (turn == Turn.CLOSED);
		return turn;
	}

	private boolean isInterrupted() {
		return mayBlock() && Thread.currentThread().isInterrupted();
	}

	/** Returns or throws the outcome. */
	private Progress end() {
		RequestOutcome ended = Objects.requireNonNull(outcome());
		if (ended instanceof RequestOutcome.Acquired) {
			return Progress.ACQUIRED;
		}
		if (ended instanceof RequestOutcome.Busy busy) {
			report(AcquireOutcome.BUSY, null);
			this.engine.events().busy(this.key, this.terms.mode(), waitedNanos(this.engine.nanoTime()), busy.holder());
			return Progress.BUSY;
		}
		Throwable failure = (ended instanceof RequestOutcome.Failed failed) ? failed.failure()
				: new IllegalStateException("The request for lock '" + this.key + "' was abandoned before");
		if (failure instanceof Error error) {
			throw error;
		}
		throw this.engine.failures().exception(this.key, failure);
	}

	/**
	 * Begins the hold of a grant, which is current in the queue already. A hold that
	 * finds its requester gone is released; the requester is told its outcome whatever
	 * happens. Called without the lock of the queue.
	 */
	void begin(Hold hold) {
		try {
			if (!this.engine.stopState().isStopping() && !isComplete()) {
				report(AcquireOutcome.ACQUIRED, null);
			}
			if (hold.holdNumber() == 0) {
				this.engine.holdStart().register(hold, this.observation);
			}
			else {
				this.engine.holdStart().registerHandedOff(hold, this.observation);
			}
		}
		catch (RuntimeException | Error ex) {
			refuse(hold, ex);
			return;
		}
		if (this.engine.stopState().isStopping()) {
			refuse(hold, this.engine.failures().shuttingDown(this.key));
			return;
		}
		if (!complete(new RequestOutcome.Acquired(hold))) {
			hold.lease().closeUnused();
		}
		signal();
	}

	private void refuse(Hold hold, Throwable failure) {
		hold.heldGrant().forgetMinHold();
		try {
			// A listener may have closed the handle.
			if (hold.endKeep()) {
				hold.endWithoutHandOff();
			}
		}
		finally {
			complete(new RequestOutcome.Failed(failure));
			signal();
		}
	}

	private void report(AcquireOutcome reported, @Nullable Throwable failure) {
		if (this.observation != null) {
			this.observation.end(reported, failure);
		}
	}

	@Override
	public void abandon() {
		if (complete(ABANDONED)) {
			if (this.queue != null) {
				this.queue.leave(this, this.first);
			}
		}
		else if (outcome() instanceof RequestOutcome.Acquired acquired) {
			acquired.hold().lease().closeUnused();
		}
		report(AcquireOutcome.INTERRUPTED, null);
	}

	@Override
	public LockKey key() {
		return this.key;
	}

	LockTerms terms() {
		return this.terms;
	}

	WaitBudget budget() {
		return this.budget;
	}

	/** Returns the observers of the request, or {@code null} for none. */
	@Nullable AcquireObservation observation() {
		return this.observation;
	}

	/**
	 * Returns the lease of an attempt: the store keeps the key for the shortest hold
	 * whatever becomes of this process. If the request waits for further keys, that hold
	 * begins while the key is held, and so within a lease from the attempt or from a
	 * renewal.
	 */
	Duration attemptLease() {
		return this.alone ? this.terms.longerOf(this.terms.minHoldNanos()) : this.terms.leaseOfPart();
	}

	/** Whether the hold begins with this key, or after further keys. */
	boolean isAlone() {
		return this.alone;
	}

	/** Whether the step of this request may block for a round trip. */
	boolean mayBlock() {
		return this.runner.mayBlock();
	}

	/** Returns the name of the requester, for people. */
	String requester() {
		return this.runner.requester();
	}

	/** Causes the next step; called without the lock of the queue. */
	void signal() {
		this.runner.signal();
	}

	/** Lets the next step follow a signal, or an instant. */
	Turn await(long instantNanos) {
		this.waitUntilNanos = instantNanos;
		return Turn.WAIT;
	}

	@Override
	public long waitUntilNanos() {
		return this.waitUntilNanos;
	}

	/**
	 * Sets the outcome.
	 * @return {@code false} if there was an outcome before
	 */
	boolean complete(RequestOutcome ended) {
		return this.outcome.compareAndSet(null, ended);
	}

	public @Nullable RequestOutcome outcome() {
		return this.outcome.get();
	}

	public boolean isComplete() {
		return outcome() != null;
	}

	@Override
	public EngineLease lease() {
		if (outcome() instanceof RequestOutcome.Acquired acquired) {
			return acquired.hold().lease();
		}
		throw new IllegalStateException("Lock '" + this.key + "' was not acquired");
	}

	@Override
	public @Nullable LockHolder holder() {
		return (outcome() instanceof RequestOutcome.Busy busy) ? busy.holder() : null;
	}

	/** Records an offer, which the requester does not know yet. */
	void recordOffer(long nowNanos) {
		if (!this.offered) {
			this.offered = true;
			this.offeredNanos = nowNanos;
		}
	}

	/** Whether a request that arrives may pick up what is offered to this one. */
	boolean mayBeOvertaken(long nowNanos) {
		return this.overtakes < MAX_OVERTAKES && nowNanos - this.offeredNanos < MAX_OVERTAKING_NANOS;
	}

	void recordOvertake() {
		this.overtakes++;
	}

	private long waitedNanos(long nowNanos) {
		return nowNanos - this.budget.startNanos();
	}

	/** Returns what an observer may know. */
	LockSnapshot.Waiting view(long nowNanos) {
		return new LockSnapshot.Waiting(this.key, requester(), Duration.ofNanos(waitedNanos(nowNanos)),
				this.runner.waitsUnlimited() ? null : this.budget.waitTime(), this.terms.mode());
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
