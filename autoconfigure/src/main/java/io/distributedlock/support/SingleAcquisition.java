package io.distributedlock.support;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockObserver.AcquireOutcome;
import io.distributedlock.provider.OwnerId;

/**
 * A request for one key, from the local queue to the grant. Driven by one thread at a
 * time.
 */
final class SingleAcquisition implements Acquisition {

	/** The least pause between two attempts, even if the store allows one at once. */
	private static final long LEAST_PAUSE_NANOS = Duration.ofMillis(1).toNanos();

	private final LockEngine engine;

	private final LockKey key;

	private final LockTerms terms;

	private final WaitBudget budget;

	private final Waiter waiter;

	private final boolean alone;

	private @Nullable KeyQueue queue;

	private long answersAtArrival;

	private boolean attempted;

	private long waitUntilNanos;

	/** A grant that has begun, whether or not the caller has its handle. */
	private @Nullable HeldGrant begun;

	private @Nullable SingleKeyLease lease;

	private @Nullable LockHolder holder;

	/**
	 * Creates a request for one key.
	 * @param alone whether the hold begins with this key, or after further keys
	 */
	SingleAcquisition(LockEngine engine, LockKey key, LockTerms terms, WaitBudget budget, Waiter waiter,
			boolean alone) {
		this.engine = engine;
		this.key = key;
		this.terms = terms;
		this.budget = budget;
		this.waiter = waiter;
		this.alone = alone;
	}

	@Override
	public Progress step() {
		this.waiter.clearSignal();
		KeyQueue joined = (this.queue != null) ? this.queue : join();
		if (this.engine.isStopping()) {
			throw failed(this.engine.shuttingDown(this.key));
		}
		long now = System.nanoTime();
		boolean mayWait = this.budget.mayWait(now);
		if (!mayWait && (this.attempted || joined.wasBusySince(this.answersAtArrival))) {
			return busy(joined, now);
		}
		if (joined.beginAttempt(this.waiter)) {
			return attempt(joined, now);
		}
		return this.budget.mayWait(now) ? waitUntil(this.budget.waitUntilNanos()) : overdue(joined, now);
	}

	private KeyQueue join() {
		while (true) {
			KeyQueue candidate = this.engine.queue(this.key);
			long answers = candidate.join(this.waiter);
			if (answers >= 0) {
				this.answersAtArrival = answers;
				this.queue = candidate;
				return candidate;
			}
			Thread.onSpinWait();
		}
	}

	/** Ends a wait that is over before this request was the head of the queue. */
	private Progress overdue(KeyQueue joined, long now) {
		return switch (joined.statusAtTimeout(this.waiter, this.answersAtArrival)) {
			case HELD_HERE, BUSY -> busy(joined, now);
			case HEAD -> step();
			case UNANSWERED -> {
				if (!this.budget.isOver(now)) {
					yield waitUntil(this.budget.endNanos());
				}
				throw failed(unanswered(joined));
			}
		};
	}

	private LockProviderException unanswered(KeyQueue joined) {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, this.engine.provider().name(),
				"has not answered in time whether lock '" + this.key + "' is free", joined.lastFailure());
	}

	private Progress attempt(KeyQueue joined, long now) {
		OwnerId owner = joined.owner();
		boolean willWait = this.budget.mayWait(now);
		Duration timeout = this.budget.attemptTimeout(now);
		if (timeout.isNegative() || timeout.isZero()) {
			throw failed(unanswered(joined));
		}
		this.attempted = true;
		AttemptResult attempt;
		try {
			LockContender contender = joined.contender(this.engine.provider());
			attempt = Objects.requireNonNull(contender.attempt(owner, this.terms.lease(), willWait, timeout));
		}
		catch (RuntimeException | Error ex) {
			throw unclear(joined, owner, willWait, ex);
		}
		if (attempt instanceof AttemptResult.Granted granted) {
			return granted(joined, granted.grant(), now);
		}
		return busy(joined, (AttemptResult.Busy) attempt, willWait);
	}

	private Progress granted(KeyQueue joined, LockGrant grant, long sentAt) {
		long now = System.nanoTime();
		HeldGrant heldGrant = new HeldGrant(joined, grant, this.terms.lease(), this.terms.renew(), sentAt, now);
		if (this.alone) {
			heldGrant.beginHold(sentAt, this.terms.maxHold());
		}
		if (Nanos.isPast(heldGrant.deadlineNanos(), now)) {
			return tooLate(joined, grant, now);
		}
		if (grant.order() <= 0 || grant.order() > FencingToken.MAX_ORDER) {
			throw refuse(joined, grant, LockError.STORE_FAILED, "returned the order " + grant.order()
					+ ", which is not an order between 1 and 2^53 - 1, for lock '" + this.key + "'");
		}
		joined.recordGrant(this.waiter, heldGrant);
		this.engine.events().acquireEnded(this.key, AcquireOutcome.ACQUIRED, now - this.budget.startNanos());
		this.begun = heldGrant;
		SingleKeyLease begun = this.engine.begin(heldGrant, sentAt);
		if (this.engine.isStopping()) {
			begun.close();
			throw failed(this.engine.shuttingDown(this.key));
		}
		this.lease = begun;
		return Progress.ACQUIRED;
	}

	/** Refuses a grant whose lease was over when the answer arrived. */
	private Progress tooLate(KeyQueue joined, LockGrant grant, long now) {
		if (!this.budget.mayWait(now)) {
			throw refuse(joined, grant, LockError.STORE_TIMEOUT,
					"granted lock '" + this.key + "' so late that its lease of " + this.terms.lease().toMillis()
							+ " ms was over; the lock was released");
		}
		this.engine.pendingReleases().release(this.key, grant.owner(), this.terms.lease(), true);
		joined.recordFailure(null, false);
		this.attempted = false;
		return waitUntil(now + LEAST_PAUSE_NANOS);
	}

	private LockException refuse(KeyQueue joined, LockGrant grant, LockError error, String problem) {
		this.engine.pendingReleases().release(this.key, grant.owner(), this.terms.lease(), true);
		LockProviderException failure = new LockProviderException(error, this.engine.provider().name(), problem, null);
		joined.recordFailure(failure, false);
		return failed(failure);
	}

	private Progress busy(KeyQueue joined, AttemptResult.Busy busy, boolean willWait) {
		joined.recordBusy(busy, willWait);
		if (willWait) {
			this.engine.pendingReleases().cancelWithdrawal(this.key);
		}
		long now = System.nanoTime();
		if (!this.budget.mayWait(now)) {
			return busy(joined, now);
		}
		long pause = Math.max(busy.retryAfter().toNanos(), LEAST_PAUSE_NANOS);
		return waitUntil(Nanos.earlier(this.budget.waitUntilNanos(), now + pause));
	}

	private Progress busy(KeyQueue joined, long now) {
		this.holder = joined.holder(now);
		joined.leave(this.waiter);
		long waited = now - this.budget.startNanos();
		this.engine.events().acquireEnded(this.key, AcquireOutcome.BUSY, waited);
		this.engine.events().busy(this.key, waited, this.holder);
		return Progress.BUSY;
	}

	/** Ends an attempt whose effect is not known. Its owner id is never used again. */
	private RuntimeException unclear(KeyQueue joined, OwnerId owner, boolean willWait, Throwable ex) {
		boolean effectUnknown = !(ex instanceof LockProviderException failure) || failure.isEffectUnknown();
		if (effectUnknown && !(ex instanceof LockConfigurationException)) {
			this.engine.pendingReleases().release(this.key, owner, this.terms.lease(), false);
		}
		joined.recordFailure(ex, willWait && effectUnknown);
		if (ex instanceof Error error) {
			joined.leave(this.waiter);
			throw error;
		}
		if (ex instanceof LockException failure) {
			return failed(failure);
		}
		return failed(new LockProviderException(LockError.STORE_FAILED, this.engine.provider().name(),
				"failed while lock '" + this.key + "' was acquired: " + ex.getMessage(), ex));
	}

	private LockException failed(LockException failure) {
		if (this.queue != null) {
			this.queue.leave(this.waiter);
		}
		this.engine.events()
			.acquireEnded(this.key,
					Thread.currentThread().isInterrupted() ? AcquireOutcome.INTERRUPTED : AcquireOutcome.FAILED,
					System.nanoTime() - this.budget.startNanos());
		return failure;
	}

	private Progress waitUntil(long instantNanos) {
		this.waitUntilNanos = instantNanos;
		return Progress.WAIT;
	}

	@Override
	public long waitUntilNanos() {
		return this.waitUntilNanos;
	}

	@Override
	public SingleKeyLease lease() {
		return Objects.requireNonNull(this.lease);
	}

	@Override
	public @Nullable LockHolder holder() {
		return this.holder;
	}

	@Override
	public LockKey key() {
		return this.key;
	}

	@Override
	public void abandon() {
		if (this.begun != null) {
			this.begun.holder().close();
		}
		else if (this.queue != null && this.queue.leave(this.waiter)) {
			this.engine.events()
				.acquireEnded(this.key, AcquireOutcome.INTERRUPTED, System.nanoTime() - this.budget.startNanos());
		}
	}

}
