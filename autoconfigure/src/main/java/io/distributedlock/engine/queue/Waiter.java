package io.distributedlock.engine.queue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.engine.event.AcquireObservation;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.grant.RequestOutcome;

/**
 * A request in a {@link KeyQueue}: what the queue knows of it, from its arrival to its
 * outcome.
 * <p>
 * The outcome is set once: by the queue, or by a requester who leaves before.
 */
public final class Waiter {

	/** How often arrivals may overtake one head. */
	public static final int MAX_OVERTAKES = 8;

	/** How long arrivals may overtake one head, from the first offer to it. */
	public static final long MAX_OVERTAKING_NANOS = Duration.ofMillis(1).toNanos();

	/** The links of the {@link WaiterQueue}, guarded by the lock of the key's queue. */
	@Nullable Waiter previous;

	@Nullable Waiter next;

	/**
	 * Whether the waiter is in the queue; guarded by its lock, as the fields below are.
	 */
	public boolean queued;

	/** Whether the wait time is over, so that the next answer ends the wait. */
	boolean overdue;

	/** The number of answers that the queue had when the waiter arrived. */
	long answersAtArrival;

	/** Whether the grant of this process was offered to this waiter, and since when. */
	private boolean offered;

	private long offeredNanos;

	/** How often arrivals have picked up what was offered to this waiter. */
	private int overtakes;

	private final LockKey key;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final RequestRunner runner;

	private final boolean alone;

	private final AtomicReference<@Nullable RequestOutcome> outcome = new AtomicReference<>();

	/** Set before the arrival. */
	private @Nullable AcquireObservation observation;

	/** Accessed by the runner's step only. */
	private long waitUntilNanos;

	/**
	 * Creates a waiter that has not arrived.
	 * @param alone whether the hold begins with this key, or after further keys
	 */
	Waiter(LockKey key, LockTerms terms, WaitBudget budget, RequestRunner runner, boolean alone) {
		this.key = key;
		this.terms = terms;
		this.budget = budget;
		this.runner = runner;
		this.alone = alone;
	}

	LockKey key() {
		return this.key;
	}

	LockTerms terms() {
		return this.terms;
	}

	WaitBudget budget() {
		return this.budget;
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

	/** Whether the step of this waiter may block for a round trip. */
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

	/** Sets when the next step is due without a signal. */
	void waitUntil(long instantNanos) {
		this.waitUntilNanos = instantNanos;
	}

	long waitUntilNanos() {
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
		return this.outcome.get() != null;
	}

	/** Sets the observers, before the arrival. */
	void observedBy(@Nullable AcquireObservation observers) {
		this.observation = observers;
	}

	/** Returns the observers of the request, or {@code null} for none. */
	@Nullable AcquireObservation observation() {
		return this.observation;
	}

	/** Records an offer, which the waiter does not know yet. */
	void recordOffer(long nowNanos) {
		if (!this.offered) {
			this.offered = true;
			this.offeredNanos = nowNanos;
		}
	}

	/** Whether a request that arrives may pick up what is offered to this waiter. */
	boolean mayBeOvertaken(long nowNanos) {
		return this.overtakes < MAX_OVERTAKES && nowNanos - this.offeredNanos < MAX_OVERTAKING_NANOS;
	}

	void recordOvertake() {
		this.overtakes++;
	}

	long waitedNanos(long nowNanos) {
		return nowNanos - this.budget.startNanos();
	}

	/** Returns what an observer may know. */
	LockSnapshot.Waiting view(long nowNanos) {
		return new LockSnapshot.Waiting(this.key, requester(), Duration.ofNanos(waitedNanos(nowNanos)),
				this.runner.waitsUnlimited() ? null : this.terms.waitTime());
	}

}
