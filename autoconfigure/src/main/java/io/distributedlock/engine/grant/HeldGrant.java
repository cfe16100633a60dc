package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockHolder;
import io.distributedlock.LockKey;
import io.distributedlock.LockMode;
import io.distributedlock.LockProviderException;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.GrantHandle;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.SessionDeadline;

/**
 * One grant of the store to this process, from the answer until it is released or lost.
 * The deadline moves only while the grant has not ended and before it has passed: a grant
 * that was not held once is never held again.
 */
public class HeldGrant extends GrantState {

	/** How many times as long as the time of hand-offs a lease has to be. */
	private static final int MIN_LEASE_FACTOR = 20;

	private static final AtomicIntegerFieldUpdater<HeldGrant> ABANDONED = AtomicIntegerFieldUpdater
		.newUpdater(HeldGrant.class, "abandoned");

	private static final AtomicLongFieldUpdater<HeldGrant> KEEP_UNTIL = AtomicLongFieldUpdater
		.newUpdater(HeldGrant.class, "keepUntilNanos");

	private final GrantQueue queue;

	private final LockGrant grant;

	private final LockTerms terms;

	private final long grantedNanos;

	/** The holder of the present hold, or of the last one. */
	private volatile @Nullable GrantHandle holder;

	/** The end until which the store is expected to keep the grant. */
	private volatile long validUntilNanos;

	/** The end of the hold, however often the grant is renewed. */
	private volatile long holdUntilNanos;

	/** Until when the store may keep the grant, as far as it was asked for. */
	private volatile long storedUntilNanos;

	/** Until when the store has to keep the key, if there is a shortest hold. */
	private volatile long keepUntilNanos;

	/** Whether the requested hold has begun, and work may run under it. */
	private volatile boolean begun;

	private volatile boolean limited;

	private volatile long renewalNanos;

	/** Whether a renewal was sent whose effect is not known. */
	private volatile boolean renewalUnclear;

	/** One once the holder has closed its handle after the loss. */
	private volatile int abandoned;

	/**
	 * Creates a grant that is renewed until its hold begins.
	 * @param terms the terms of the request that gets the grant
	 * @param asked the lease that the store was asked for
	 * @param sentNanos when the attempt was sent
	 * @param grantedNanos when its answer arrived
	 * @param queue the queue of the key
	 */
	public HeldGrant(LockGrant grant, LockTerms terms, Duration asked, long sentNanos, long grantedNanos,
			GrantQueue queue) {
		this.queue = queue;
		this.grant = grant;
		this.terms = terms;
		this.renewalNanos = sentNanos;
		this.grantedNanos = grantedNanos;
		this.storedUntilNanos = grantedNanos + Math.max(asked.toNanos(), grant.validity().toNanos());
		this.validUntilNanos = sentNanos + usableNanos(asked);
		this.holdUntilNanos = sentNanos + Nanos.NEVER;
	}

	/**
	 * Returns how long the grant is used locally: for one lease, less what the store
	 * keeps it shorter than it was asked for. So of a longer lease the rest is left to
	 * the shortest hold.
	 */
	private long usableNanos(Duration asked) {
		Duration missing = asked.minus(this.grant.validity());
		return Nanos.usableNanos(missing.isNegative() ? lease() : lease().minus(missing));
	}

	/**
	 * Returns why the grant cannot be used.
	 * @param provider the name of the provider
	 * @param nowNanos the present
	 * @return the reason, or {@code null} for a grant that can be used
	 */
	public @Nullable LockProviderException refusal(String provider, long nowNanos) {
		if (this.grant.order() <= 0 || this.grant.order() > FencingToken.MAX_ORDER) {
			return new LockProviderException(LockError.STORE_FAILED, provider,
					"returned the order " + this.grant.order()
							+ ", which is not an order between 1 and 2^53 - 1, for lock '" + this.grant.key() + "'",
					null);
		}
		if (Nanos.isPast(deadlineNanos(), nowNanos)) {
			return new LockProviderException(LockError.STORE_TIMEOUT, provider, "granted lock '" + this.grant.key()
					+ "' so late that its lease of " + lease().toMillis() + " ms was over; the lock was released",
					null);
		}
		return null;
	}

	/** Sets the holder, before the hold begins. Guarded by the lock of the queue. */
	void heldBy(GrantHandle holder) {
		this.holder = holder;
	}

	/** Returns what other requests of this process may know of the holder. */
	public LockHolder process(long nowNanos) {
		return LockHolder.of(ProcessLabel.get())
			.withHeldFor(Duration.ofNanos(nowNanos - this.grantedNanos))
			.withRemaining(Duration.ofNanos(Math.max(0, deadlineNanos() - nowNanos)));
	}

	public GrantHandle holder() {
		return Objects.requireNonNull(this.holder);
	}

	/** Returns the present holds, or the last one. */
	public Collection<GrantHandle> holds() {
		return List.of(holder());
	}

	/** Whether a hold has not left the grant to others before it was lost. */
	boolean has(GrantHandle hold) {
		return true;
	}

	/**
	 * Ends a hold of a grant that others have too.
	 * @return {@code false} if there are no others: the grant is to be released
	 */
	boolean leave(GrantHandle hold) {
		return false;
	}

	/** Returns the holds that are to be told a loss, each of them once. */
	Collection<GrantHandle> endHolds() {
		return holds();
	}

	public LockMode mode() {
		return this.terms.mode();
	}

	/** Returns the most shares that there may be with this one, 0 for the whole key. */
	int permits() {
		return this.terms.permits();
	}

	/** Begins a hold whose request waits for further keys, without an end of its own. */
	public void beginPart() {
		this.holdUntilNanos = this.grantedNanos + Nanos.NEVER;
		this.limited = false;
		this.begun = false;
	}

	/**
	 * Begins the hold that the caller requested, and sets its end.
	 * @param startNanos when lease and longest hold begin to count
	 * @param maxHold the longest hold, or {@code null}
	 */
	public void beginHold(long startNanos, @Nullable Duration maxHold) {
		long end = isRenewed() ? startNanos + Nanos.NEVER : startNanos + Nanos.usableNanos(lease());
		long limit = (maxHold != null) ? startNanos + maxHold.toNanos() : end;
		// Never from before the answer: the store counts from before it.
		this.keepUntilNanos = minHoldNanos() + Math.max(startNanos - this.grantedNanos, 0) + this.grantedNanos;
		this.begun = true;
		this.limited = limit - end < 0;
		this.holdUntilNanos = Nanos.earlier(end, limit);
	}

	/** Returns the shortest hold, 0 for none. */
	public long minHoldNanos() {
		return this.terms.minHoldNanos();
	}

	/** Lets a release free the key at once, since no work began under it. */
	public void forgetMinHold() {
		this.begun = false;
	}

	/** Whether work runs under a lease that ends it, since it is not renewed. */
	boolean isEndedByLease() {
		return this.begun && !this.limited && !isRenewed();
	}

	/**
	 * Returns when a hold began that is {@linkplain #isEndedByLease ended by its lease}.
	 */
	long begunNanos() {
		return this.holdUntilNanos - Nanos.usableNanos(lease());
	}

	/**
	 * Lets a release keep the key for longer, if it would keep it for less.
	 * @return whether that is longer than the store was asked for
	 */
	public boolean prolongMinHold(long untilNanos) {
		KEEP_UNTIL.accumulateAndGet(this, untilNanos, Nanos::later);
		return untilNanos - this.storedUntilNanos > 0;
	}

	/** Returns for how long a release that is sent now lets the store keep the key. */
	public Duration keepFor(long nowNanos) {
		long rest = this.begun ? restNanos(nowNanos) : 0;
		return (rest > 0) ? Nanos.ceilMillis(rest) : Duration.ZERO;
	}

	/**
	 * Records a renewal that is sent now, and returns its lease: never shorter than the
	 * rest of the shortest hold, which begins within the lease if it has not begun.
	 */
	public Duration renewalLease(long nowNanos) {
		Duration asked = this.begun ? this.terms.longerOf(restNanos(nowNanos)) : this.terms.leaseOfPart();
		this.storedUntilNanos = Nanos.later(this.storedUntilNanos, nowNanos + asked.toNanos());
		return asked;
	}

	/** Returns the rest of the shortest hold, if any. The local clock may be too fast. */
	private long restNanos(long nowNanos) {
		if (minHoldNanos() == 0) {
			return 0;
		}
		long rest = this.keepUntilNanos - nowNanos;
		return rest + Nanos.driftNanos(minHoldNanos() - rest);
	}

	/** Returns for how long the store may keep the grant from now on, or one lease. */
	Duration storedFor(long nowNanos) {
		return Duration.ofNanos(Math.max(this.storedUntilNanos - nowNanos, lease().toNanos()));
	}

	GrantQueue queue() {
		return this.queue;
	}

	public LockKey key() {
		return this.grant.key();
	}

	public LockGrant grant() {
		return this.grant;
	}

	public Duration lease() {
		return this.terms.lease();
	}

	/** Whether the lease is renewed for as long as the hold lasts. */
	public boolean isRenewed() {
		return this.terms.renew();
	}

	public long grantedNanos() {
		return this.grantedNanos;
	}

	FencingToken token(int holdNumber) {
		return FencingToken.of(this.grant.order(), holdNumber);
	}

	/** Returns the local deadline by the nano time. */
	public long deadlineNanos() {
		return Nanos.earlier(validUntilNanos(), this.holdUntilNanos);
	}

	private long validUntilNanos() {
		SessionDeadline session = this.grant.sessionDeadline();
		return (session != null) ? Nanos.earlier(this.validUntilNanos, session.until()) : this.validUntilNanos;
	}

	LossReason reasonOfDeadline() {
		SessionDeadline session = this.grant.sessionDeadline();
		if (session != null && session.until() - Nanos.earlier(this.validUntilNanos, this.holdUntilNanos) < 0) {
			return LossReason.SESSION_ENDED;
		}
		return (this.limited && this.holdUntilNanos - this.validUntilNanos <= 0) ? LossReason.MAX_HOLD
				: LossReason.EXPIRED;
	}

	/**
	 * Whether the grant may have another holder of this process: it is young, so that
	 * other processes get their turn, its lease is long, no renewal is unanswered, and it
	 * has no shortest hold, within which it is granted once.
	 * @param maxNanos for how long a grant is handed off, or 0 for never
	 */
	public boolean mayBeHandedOff(long maxNanos, long nowNanos) {
		return nowNanos - this.grantedNanos < maxNanos && minHoldNanos() == 0
				&& lease().toNanos() >= MIN_LEASE_FACTOR * maxNanos && !this.renewalUnclear
				&& !Nanos.isPast(validUntilNanos(), nowNanos + MIN_LEASE_FACTOR / 2 * maxNanos);
	}

	/** Whether a request with these terms may have the grant after its holder. */
	public boolean suits(LockTerms others) {
		return others.minHold() == null && this.terms.suit(others);
	}

	/**
	 * Records that the holder has closed its handle after the loss.
	 * @param nowNanos the present
	 * @return whether this was the first time, and the store may still keep the grant
	 */
	boolean abandon(long nowNanos) {
		return ABANDONED.compareAndSet(this, 0, 1) && lossReason() != LossReason.NOT_HELD
				&& (this.renewalUnclear || !Nanos.isPast(this.storedUntilNanos, nowNanos));
	}

	/** Whether a renewal was sent whose effect is not known. */
	public boolean isRenewalUnclear() {
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
	public boolean needsRenewal() {
		long uncovered = this.holdUntilNanos - this.validUntilNanos;
		return uncovered > (isRenewed() ? 0 : lease().toNanos() / 10) && isCurrent();
	}

	/** Claims the grant for one renewal; fails after the grant has ended. */
	public boolean beginRenewal() {
		if (!claimRenewal()) {
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
	public boolean renewed(long sentNanos, long nowNanos) {
		boolean inTime = isCurrent() && !Nanos.isPast(deadlineNanos(), nowNanos);
		if (inTime) {
			this.validUntilNanos = sentNanos + Nanos.usableNanos(lease());
			this.renewalUnclear = false;
		}
		endRenewal();
		return inTime;
	}

	/**
	 * Returns when the next renewal is due, by the nano time; before the first one is
	 * scheduled, when the attempt was sent.
	 */
	public long renewalNanos() {
		return this.renewalNanos;
	}

	public void scheduleRenewal(long instantNanos) {
		this.renewalNanos = instantNanos;
	}

}
