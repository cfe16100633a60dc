package io.distributedlock.support;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.SessionDeadline;

/**
 * One grant of the store to this process, from the answer until it is released or lost.
 * <p>
 * Invariants: the hold ends exactly once, by one CAS of the state to RELEASED or to a
 * loss; the thread that wins this CAS does what follows. A renewal is sent only by the
 * thread that has set the RENEWING bit, which cannot be set after the hold has ended: no
 * renewal begins after release was called. The deadline moves only while the grant is
 * held and before it has passed: a grant that was not held once is never held again.
 */
final class HeldGrant {

	private static final int RENEWING = 1;

	private static final int RELEASED = -1;

	/** The first of the losses: LOST - ordinal of the reason. */
	private static final int LOST = -2;

	private static final LossReason[] REASONS = LossReason.values();

	/** Updates the state without an object of its own, of which there is one per lock. */
	private static final AtomicIntegerFieldUpdater<HeldGrant> STATE = AtomicIntegerFieldUpdater
		.newUpdater(HeldGrant.class, "state");

	private static final AtomicIntegerFieldUpdater<HeldGrant> ABANDONED = AtomicIntegerFieldUpdater
		.newUpdater(HeldGrant.class, "abandoned");

	private final LockGrant grant;

	private final Duration lease;

	private final boolean renew;

	/** Hold number × 2 + RENEWING, or RELEASED, or LOST - ordinal of the reason. */
	private volatile int state;

	private final long grantedNanos;

	private @Nullable Holder holder;

	/** The end until which the store is expected to keep the grant. */
	private volatile long validUntilNanos;

	/** The end of the hold, however often the grant is renewed. */
	private volatile long holdUntilNanos;

	private volatile boolean limited;

	private volatile long renewalNanos;

	/** Whether a renewal was sent whose effect is not known. */
	private volatile boolean renewalUnclear;

	/** One once the holder has closed its handle after the loss. */
	private volatile int abandoned;

	/**
	 * Creates a grant that is renewed until its hold begins.
	 * @param terms the terms of the request that gets the grant
	 * @param sentNanos when the attempt was sent
	 * @param grantedNanos when its answer arrived
	 */
	HeldGrant(LockGrant grant, LockTerms terms, long sentNanos, long grantedNanos) {
		this.grant = grant;
		this.lease = terms.lease();
		this.renew = terms.renew();
		this.renewalNanos = sentNanos;
		this.grantedNanos = grantedNanos;
		this.validUntilNanos = sentNanos + Nanos.usableNanos(grant.validity());
		this.holdUntilNanos = sentNanos + Nanos.NEVER;
	}

	/**
	 * Returns why the grant cannot be used.
	 * @param provider the name of the provider
	 * @param nowNanos the present
	 * @return the reason, or {@code null} for a grant that can be used
	 */
	@Nullable LockProviderException refusal(String provider, long nowNanos) {
		if (this.grant.order() <= 0 || this.grant.order() > FencingToken.MAX_ORDER) {
			return new LockProviderException(LockError.STORE_FAILED, provider,
					"returned the order " + this.grant.order()
							+ ", which is not an order between 1 and 2^53 - 1, for lock '" + this.grant.key() + "'",
					null);
		}
		if (Nanos.isPast(deadlineNanos(), nowNanos)) {
			return new LockProviderException(LockError.STORE_TIMEOUT, provider, "granted lock '" + this.grant.key()
					+ "' so late that its lease of " + this.lease.toMillis() + " ms was over; the lock was released",
					null);
		}
		return null;
	}

	/** Sets the current holder, once, before another thread sees the grant. */
	void heldBy(Holder holder) {
		this.holder = holder;
	}

	Holder holder() {
		return Objects.requireNonNull(this.holder);
	}

	/**
	 * Begins the hold that the caller requested, and sets its end.
	 * @param startNanos when lease and longest hold begin to count
	 * @param maxHold the longest hold, or {@code null}
	 */
	void beginHold(long startNanos, @Nullable Duration maxHold) {
		long end = this.renew ? startNanos + Nanos.NEVER : startNanos + Nanos.usableNanos(this.lease);
		long limit = (maxHold != null) ? startNanos + maxHold.toNanos() : end;
		this.limited = limit - end < 0;
		this.holdUntilNanos = Nanos.earlier(end, limit);
	}

	LockKey key() {
		return this.grant.key();
	}

	LockGrant grant() {
		return this.grant;
	}

	Duration lease() {
		return this.lease;
	}

	long grantedNanos() {
		return this.grantedNanos;
	}

	FencingToken token(int holdNumber) {
		return FencingToken.of(this.grant.order(), holdNumber);
	}

	/** Returns the local deadline by the nano time. */
	long deadlineNanos() {
		long end = Nanos.earlier(this.validUntilNanos, this.holdUntilNanos);
		SessionDeadline session = this.grant.sessionDeadline();
		return (session != null) ? Nanos.earlier(end, session.until()) : end;
	}

	LossReason reasonOfDeadline() {
		return (this.limited && this.holdUntilNanos - this.validUntilNanos <= 0) ? LossReason.MAX_HOLD
				: LossReason.EXPIRED;
	}

	/** Whether the hold is current, regardless of the deadline. */
	boolean isAt(int holdNumber) {
		int current = this.state;
		return current >= 0 && current >> 1 == holdNumber;
	}

	boolean isCurrent() {
		return this.state >= 0;
	}

	@Nullable LossReason lossReason() {
		int current = this.state;
		return (current <= LOST) ? REASONS[LOST - current] : null;
	}

	/**
	 * Ends the hold in order to release the grant.
	 * @param holdNumber the number of the hold whose handle is closed
	 * @return {@code false} if that hold had ended before
	 */
	boolean release(int holdNumber) {
		int current = this.state;
		while (current >= 0 && current >> 1 == holdNumber) {
			if (STATE.compareAndSet(this, current, RELEASED)) {
				return true;
			}
			current = this.state;
		}
		return false;
	}

	/**
	 * Ends the current hold because the grant has ended.
	 * @param reason the reason of the loss
	 * @return {@code false} if the grant had ended before
	 */
	boolean lose(LossReason reason) {
		int current = this.state;
		while (current >= 0) {
			if (STATE.compareAndSet(this, current, LOST - reason.ordinal())) {
				return true;
			}
			current = this.state;
		}
		return false;
	}

	/** Turns a release into a loss: the store's first, clear answer was NOT_HELD. */
	boolean loseAtRelease() {
		return STATE.compareAndSet(this, RELEASED, LOST - LossReason.NOT_HELD.ordinal());
	}

	/**
	 * Records that the holder has closed its handle after the loss.
	 * @param nowNanos the present
	 * @return whether this was the first time, and the store may still keep the grant
	 */
	boolean abandon(long nowNanos) {
		return ABANDONED.compareAndSet(this, 0, 1) && lossReason() != LossReason.NOT_HELD
				&& (this.renewalUnclear || !Nanos.isPast(this.validUntilNanos, nowNanos));
	}

	/** Whether a renewal was sent whose effect is not known. */
	boolean isRenewalUnclear() {
		return this.renewalUnclear;
	}

	boolean isAbandoned() {
		return this.abandoned != 0;
	}

	/**
	 * Whether a renewal is due before the end of the hold. The store keeps a lease that
	 * is not renewed for a little less than requested; that difference is not worth a
	 * command.
	 */
	boolean needsRenewal() {
		long uncovered = this.holdUntilNanos - this.validUntilNanos;
		return uncovered > (this.renew ? 0 : this.lease.toNanos() / 10) && isCurrent();
	}

	/** Claims the grant for one renewal; fails after the hold has ended. */
	boolean beginRenewal() {
		int current = this.state;
		if (current < 0 || (current & RENEWING) != 0 || !STATE.compareAndSet(this, current, current | RENEWING)) {
			return false;
		}
		this.renewalUnclear = true;
		return true;
	}

	/**
	 * Records a confirmed renewal.
	 * @param sentNanos when it was sent
	 * @param nowNanos when its answer arrived
	 * @return {@code false} if the deadline had passed before
	 */
	boolean renewed(long sentNanos, long nowNanos) {
		boolean inTime = isCurrent() && !Nanos.isPast(deadlineNanos(), nowNanos);
		if (inTime) {
			this.validUntilNanos = sentNanos + Nanos.usableNanos(this.lease);
			this.renewalUnclear = false;
		}
		endRenewal();
		return inTime;
	}

	void endRenewal() {
		int current = this.state;
		while (current >= 0 && (current & RENEWING) != 0 && !STATE.compareAndSet(this, current, current & ~RENEWING)) {
			current = this.state;
		}
	}

	boolean isRenewing() {
		int current = this.state;
		return current >= 0 && (current & RENEWING) != 0;
	}

	/**
	 * Returns when the next renewal is due, by the nano time; before the first one is
	 * scheduled, when the attempt was sent.
	 */
	long renewalNanos() {
		return this.renewalNanos;
	}

	void scheduleRenewal(long instantNanos) {
		this.renewalNanos = instantNanos;
	}

}
