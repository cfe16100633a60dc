package io.distributedlock.support;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockSnapshot;
import io.distributedlock.provider.LockObserver.AcquireOutcome;

/**
 * A request for one key: a waiter of its {@link KeyQueue}, from its arrival to its
 * outcome. The queue decides, and the driver takes one step after the other.
 * <p>
 * The outcome is set once: by the queue, or by a requester who leaves before. A hold that
 * finds its requester gone is released.
 */
final class KeyRequest implements Acquisition {

	private static final RequestOutcome ABANDONED = new RequestOutcome.Abandoned();

	private static final VarHandle OUTCOME;

	private static final AtomicIntegerFieldUpdater<KeyRequest> REPORTED = AtomicIntegerFieldUpdater
		.newUpdater(KeyRequest.class, "reported");

	static {
		try {
			OUTCOME = MethodHandles.lookup().findVarHandle(KeyRequest.class, "outcome", RequestOutcome.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** The links of the {@link WaiterQueue}, guarded by the lock of the key's queue. */
	@Nullable KeyRequest previous;

	@Nullable KeyRequest next;

	/** Whether the request is in the queue; guarded by its lock. */
	boolean queued;

	/** The answers that the queue had when the request arrived; guarded by its lock. */
	long answersAtArrival;

	private final LockEngine engine;

	private final LockKey key;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final RequestDriver driver;

	private final boolean alone;

	private volatile @Nullable RequestOutcome outcome;

	/** Accessed by the driver only, as the field below is. */
	private @Nullable KeyQueue queue;

	private long waitUntilNanos;

	/** One once the end of the request was reported; updated as the outcome is. */
	private volatile int reported;

	/**
	 * Creates a request for one key.
	 * @param alone whether the hold begins with this key, or after further keys
	 */
	KeyRequest(LockEngine engine, LockKey key, LockTerms terms, WaitBudget budget, RequestDriver driver,
			boolean alone) {
		this.engine = engine;
		this.key = key;
		this.terms = terms;
		this.budget = budget;
		this.driver = driver;
		this.alone = alone;
	}

	LockTerms terms() {
		return this.terms;
	}

	WaitBudget budget() {
		return this.budget;
	}

	/** Whether the hold begins with this key, or after further keys. */
	boolean isAlone() {
		return this.alone;
	}

	boolean mayBlock() {
		return this.driver.mayBlock();
	}

	/** Returns the name of the requester, for people. */
	String requester() {
		return this.driver.requester();
	}

	/** Returns what an observer may know of a request that waits. */
	LockSnapshot.Waiting view(long nowNanos) {
		return new LockSnapshot.Waiting(this.key, requester(),
				Duration.ofNanos(nowNanos - this.budget.startNanos()), this.terms.waitTime());
	}

	/** Causes the next step; called without the lock of the queue. */
	void signal() {
		this.driver.signal();
	}

	/** Sets when the next step is due without a signal. */
	KeyQueue.Turn waitUntil(long instantNanos) {
		this.waitUntilNanos = instantNanos;
		return KeyQueue.Turn.WAIT;
	}

	/**
	 * Sets the outcome. The request has left the queue before.
	 * @return {@code false} if the requester has left before
	 */
	boolean complete(RequestOutcome ended) {
		return OUTCOME.compareAndSet(this, null, ended);
	}

	boolean isComplete() {
		return this.outcome != null;
	}

	@Override
	public Progress step() {
		KeyQueue joined = this.queue;
		KeyQueue.Turn turn = (joined != null) ? joined.turn(this) : arrive();
		while (turn == KeyQueue.Turn.SEND) {
			KeyQueue present = Objects.requireNonNull(this.queue);
			if (this.engine.isBlocking() && !this.driver.mayBlock()) {
				this.engine.sendInBackground(present);
				return Progress.WAIT;
			}
			present.send();
			turn = present.turn(this);
		}
		return (turn == KeyQueue.Turn.WAIT) ? Progress.WAIT : end();
	}

	private KeyQueue.Turn arrive() {
		while (true) {
			KeyQueue candidate = this.engine.queue(this.key);
			KeyQueue.Turn turn = candidate.arrive(this);
			if (turn != KeyQueue.Turn.CLOSED) {
				this.queue = candidate;
				return turn;
			}
			Thread.yield();
		}
	}

	/** Reports the outcome. */
	private Progress end() {
		RequestOutcome ended = Objects.requireNonNull(this.outcome);
		if (ended instanceof RequestOutcome.Acquired) {
			return Progress.ACQUIRED;
		}
		if (ended instanceof RequestOutcome.Busy busy) {
			report(AcquireOutcome.BUSY);
			this.engine.events().busy(this.key, waitedNanos(), busy.holder());
			return Progress.BUSY;
		}
		boolean interrupted = this.driver.mayBlock() && Thread.currentThread().isInterrupted();
		report(interrupted ? AcquireOutcome.INTERRUPTED : AcquireOutcome.FAILED);
		Throwable failure = (ended instanceof RequestOutcome.Failed failed) ? failed.failure()
				: new IllegalStateException("The request for lock '" + this.key + "' was abandoned before");
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof LockException known) {
			throw known;
		}
		throw new LockProviderException(LockError.STORE_FAILED, this.engine.provider().name(),
				"failed while lock '" + this.key + "' was acquired: " + failure.getMessage(), failure);
	}

	/** Reports the end of the request to the observers, once. */
	void report(AcquireOutcome ended) {
		if (REPORTED.compareAndSet(this, 0, 1)) {
			this.engine.events().acquireEnded(this.key, ended, waitedNanos());
		}
	}

	private long waitedNanos() {
		return this.engine.nanoTime() - this.budget.startNanos();
	}

	@Override
	public long waitUntilNanos() {
		return this.waitUntilNanos;
	}

	@Override
	public Hold lease() {
		if (this.outcome instanceof RequestOutcome.Acquired acquired) {
			return acquired.hold();
		}
		throw new IllegalStateException("Lock '" + this.key + "' was not acquired");
	}

	@Override
	public @Nullable LockHolder holder() {
		return (this.outcome instanceof RequestOutcome.Busy busy) ? busy.holder() : null;
	}

	@Override
	public LockKey key() {
		return this.key;
	}

	@Override
	public void abandon() {
		if (complete(ABANDONED)) {
			if (this.queue != null) {
				this.queue.leave(this);
			}
		}
		else if (this.outcome instanceof RequestOutcome.Acquired acquired) {
			acquired.hold().closeInBackground();
		}
		report(AcquireOutcome.INTERRUPTED);
	}

}
