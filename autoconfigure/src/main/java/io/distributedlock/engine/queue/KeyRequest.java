package io.distributedlock.engine.queue;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.engine.concurrent.NodeThreads;
import io.distributedlock.engine.event.AcquireObservation;
import io.distributedlock.engine.grant.EngineLease;
import io.distributedlock.engine.grant.LockTerms;
import io.distributedlock.engine.grant.RequestOutcome;
import io.distributedlock.provider.AcquireOutcome;

/**
 * A request for one key. The {@link KeyQueue} decides, and the runner takes one step
 * after the other. A hold that finds its requester gone is released.
 */
public final class KeyRequest implements RunningRequest {

	private static final RequestOutcome ABANDONED = new RequestOutcome.Abandoned();

	private final EngineContext engine;

	private final KeyQueueRegistry queues;

	private final RequestRunner runner;

	private final Waiter waiter;

	/** Accessed by the runner only. */
	private @Nullable KeyQueue queue;

	/**
	 * Creates a request for one key.
	 * @param alone whether the hold begins with this key, or after further keys
	 */
	public KeyRequest(EngineContext engine, KeyQueueRegistry queues, LockKey key, LockTerms terms, WaitBudget budget,
			RequestRunner runner, boolean alone) {
		this.engine = engine;
		this.queues = queues;
		this.runner = runner;
		this.waiter = new Waiter(key, terms, budget, runner, alone);
	}

	/** Sets the observers, which have seen the start of the request. */
	public KeyRequest observedBy(@Nullable AcquireObservation observers) {
		this.waiter.observedBy(observers);
		return this;
	}

	@Override
	public Progress step() {
		try {
			return progress();
		}
		catch (RuntimeException | Error ex) {
			report(isInterrupted() ? AcquireOutcome.INTERRUPTED : AcquireOutcome.FAILED, ex);
			throw ex;
		}
	}

	private Progress progress() {
		KeyQueue joined = this.queue;
		KeyQueue.Turn turn = (joined != null) ? joined.turn(this.waiter) : arrive();
		while (turn == KeyQueue.Turn.SEND) {
			KeyQueue present = Objects.requireNonNull(this.queue);
			if (this.engine.isBlocking() && !this.runner.mayBlock()) {
				sendInBackground(present);
				return Progress.WAIT;
			}
			present.send(this.waiter);
			turn = present.turn(this.waiter);
			if (turn == KeyQueue.Turn.SEND && isInterrupted()) {
				// The runner leaves before it attempts again.
				return Progress.WAIT;
			}
		}
		return (turn == KeyQueue.Turn.WAIT) ? Progress.WAIT : end();
	}

	private KeyQueue.Turn arrive() {
		KeyQueue.Turn turn;
		do {
			KeyQueue candidate = this.queues.queue(key());
			// Known before the arrival: a request that fails during it leaves the queue.
			this.queue = candidate;
			turn = candidate.arrive(this.waiter);
		}
		while (turn == KeyQueue.Turn.CLOSED);
		return turn;
	}

	/** Sends the attempt of a queue on the threads for attempts. */
	private void sendInBackground(KeyQueue present) {
		this.engine.attemptThreads()
			.execute(NodeThreads.node(this.engine.provider(), key()), present::send, present::failPrepared);
	}

	private boolean isInterrupted() {
		return this.runner.mayBlock() && Thread.currentThread().isInterrupted();
	}

	/** Returns or throws the outcome. */
	private Progress end() {
		RequestOutcome ended = Objects.requireNonNull(this.waiter.outcome());
		if (ended instanceof RequestOutcome.Acquired) {
			return Progress.ACQUIRED;
		}
		if (ended instanceof RequestOutcome.Busy busy) {
			report(AcquireOutcome.BUSY, null);
			this.engine.events().busy(key(), this.waiter.waitedNanos(this.engine.nanoTime()), busy.holder());
			return Progress.BUSY;
		}
		Throwable failure = (ended instanceof RequestOutcome.Failed failed) ? failed.failure()
				: new IllegalStateException("The request for lock '" + key() + "' was abandoned before");
		if (failure instanceof Error error) {
			throw error;
		}
		throw this.engine.failures().exception(key(), failure);
	}

	private void report(AcquireOutcome outcome, @Nullable Throwable failure) {
		AcquireObservation observation = this.waiter.observation();
		if (observation != null) {
			observation.end(outcome, failure);
		}
	}

	public Waiter waiter() {
		return this.waiter;
	}

	@Override
	public long waitUntilNanos() {
		return this.waiter.waitUntilNanos();
	}

	@Override
	public EngineLease lease() {
		if (this.waiter.outcome() instanceof RequestOutcome.Acquired acquired) {
			return acquired.hold().lease();
		}
		throw new IllegalStateException("Lock '" + key() + "' was not acquired");
	}

	@Override
	public @Nullable LockHolder holder() {
		return (this.waiter.outcome() instanceof RequestOutcome.Busy busy) ? busy.holder() : null;
	}

	@Override
	public LockKey key() {
		return this.waiter.key();
	}

	@Override
	public void abandon() {
		if (this.waiter.complete(ABANDONED)) {
			if (this.queue != null) {
				this.queue.leave(this.waiter);
			}
		}
		else if (this.waiter.outcome() instanceof RequestOutcome.Acquired acquired) {
			acquired.hold().lease().closeUnused();
		}
		report(AcquireOutcome.INTERRUPTED, null);
	}

}
