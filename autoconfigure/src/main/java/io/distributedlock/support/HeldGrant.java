package io.distributedlock.support;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LossReason;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.Term;

/**
 * One grant of the store to this process, from the answer until it is released or lost.
 * <p>
 * Invariants: the current place is left exactly once, by one CAS of the state, to
 * RELEASED or to a loss; whoever wins that CAS does what follows. A renewal is sent only
 * by who has set the RENEWING bit, which cannot be set once the place was left: none
 * begins after release was called. The deadline moves only while the grant is held and
 * before it has passed: what was not held once is never held again.
 */
final class HeldGrant {

	private static final int RENEWING = 1;

	private static final int RELEASED = -1;

	/** The first of the losses: LOST - ordinal of the reason. */
	private static final int LOST = -2;

	private static final LossReason[] REASONS = LossReason.values();

	private final KeyQueue queue;

	private final LockGrant grant;

	private final Duration lease;

	private final boolean renew;

	/** place × 2 + RENEWING, or RELEASED, or LOST - ordinal of the reason. */
	private final AtomicInteger state = new AtomicInteger();

	private final long grantedAt;

	private @Nullable SingleKeyLease holder;

	/** Until when the store is relied upon to keep the grant. */
	private volatile long validUntil;

	/** Where the hold itself ends, however often it is renewed. */
	private volatile long holdUntil;

	private volatile boolean limited;

	private volatile long renewAt;

	/** Whether a renewal was sent whose effect is not known. */
	private volatile boolean renewalUnclear;

	/** Whether the holder has closed its handle after the loss. */
	private final AtomicBoolean abandoned = new AtomicBoolean();

	/** A grant that is to be renewed until its hold begins. */
	HeldGrant(KeyQueue queue, LockGrant grant, Duration lease, boolean renew, long sentAt, long grantedAt) {
		this.queue = queue;
		this.grant = grant;
		this.lease = lease;
		this.renew = renew;
		this.grantedAt = grantedAt;
		this.validUntil = sentAt + Nanos.reliedUpon(grant.validity());
		this.holdUntil = sentAt + Nanos.NEVER;
	}

	/** Names the current holder, once, before anybody else sees the grant. */
	void heldBy(SingleKeyLease holder) {
		this.holder = holder;
	}

	SingleKeyLease holder() {
		return Objects.requireNonNull(this.holder);
	}

	/**
	 * Begins the hold that the caller asked for, and with it sets its end.
	 * @param start from when lease and longest hold count
	 * @param maxHold the longest hold, or {@code null}
	 */
	void beginHold(long start, @Nullable Duration maxHold) {
		long end = this.renew ? start + Nanos.NEVER : start + Nanos.reliedUpon(this.lease);
		long limit = (maxHold != null) ? start + maxHold.toNanos() : end;
		this.limited = limit - end < 0;
		this.holdUntil = Nanos.earlier(end, limit);
	}

	KeyQueue queue() {
		return this.queue;
	}

	LockGrant grant() {
		return this.grant;
	}

	Duration lease() {
		return this.lease;
	}

	long grantedAt() {
		return this.grantedAt;
	}

	FencingToken token(int place) {
		return FencingToken.of(this.grant.order(), place);
	}

	long deadline() {
		long end = Nanos.earlier(this.validUntil, this.holdUntil);
		Term term = this.grant.term();
		return (term != null) ? Nanos.earlier(end, term.until()) : end;
	}

	LossReason reasonOfDeadline() {
		return (this.limited && this.holdUntil - this.validUntil <= 0) ? LossReason.MAX_HOLD : LossReason.EXPIRED;
	}

	/** Whether the place is current, whatever the deadline says. */
	boolean isAt(int place) {
		int current = this.state.get();
		return current >= 0 && current >> 1 == place;
	}

	boolean isCurrent() {
		return this.state.get() >= 0;
	}

	@Nullable LossReason lossReason() {
		int current = this.state.get();
		return (current <= LOST) ? REASONS[LOST - current] : null;
	}

	/**
	 * Leaves the place for good, to be released.
	 * @param place the place of the handle that is closed
	 * @return {@code false} if that place was left before
	 */
	boolean release(int place) {
		int current = this.state.get();
		while (current >= 0 && current >> 1 == place) {
			if (this.state.compareAndSet(current, RELEASED)) {
				return true;
			}
			current = this.state.get();
		}
		return false;
	}

	/**
	 * Leaves the current place for good because the grant has ended.
	 * @param reason why
	 * @return {@code false} if the grant had ended before
	 */
	boolean lose(LossReason reason) {
		int current = this.state.get();
		while (current >= 0) {
			if (this.state.compareAndSet(current, LOST - reason.ordinal())) {
				return true;
			}
			current = this.state.get();
		}
		return false;
	}

	/** The store's first, clear answer to the release was that it held nothing. */
	boolean loseAtRelease() {
		return this.state.compareAndSet(RELEASED, LOST - LossReason.NOT_HELD.ordinal());
	}

	/**
	 * The holder has closed its handle after the loss.
	 * @param now the present
	 * @return whether this was the first time, and the store may still keep the grant
	 */
	boolean abandon(long now) {
		return this.abandoned.compareAndSet(false, true) && lossReason() != LossReason.NOT_HELD
				&& (this.renewalUnclear || !Nanos.isPast(this.validUntil, now));
	}

	/** Whether a renewal was sent whose effect is not known. */
	boolean isRenewalUnclear() {
		return this.renewalUnclear;
	}

	boolean isAbandoned() {
		return this.abandoned.get();
	}

	/**
	 * A lease that is not to be renewed is kept by the store for a little less than asked
	 * for, counted from when it was: that difference is not worth a command.
	 */
	boolean needsRenewal() {
		long uncovered = this.holdUntil - this.validUntil;
		return uncovered > (this.renew ? 0 : this.lease.toNanos() / 10) && isCurrent();
	}

	/** Claims the grant for one renewal; fails once it has ended. */
	boolean beginRenewal() {
		int current = this.state.get();
		if (current < 0 || !this.state.compareAndSet(current, current | RENEWING)) {
			return false;
		}
		this.renewalUnclear = true;
		return true;
	}

	/**
	 * A renewal was confirmed.
	 * @param sentAt when it was sent
	 * @param now when its answer came
	 * @return {@code false} if the deadline had passed before
	 */
	boolean renewed(long sentAt, long now) {
		boolean inTime = isCurrent() && !Nanos.isPast(deadline(), now);
		if (inTime) {
			this.validUntil = sentAt + Nanos.reliedUpon(this.lease);
			this.renewalUnclear = false;
		}
		endRenewal();
		return inTime;
	}

	void endRenewal() {
		int current = this.state.get();
		while (current >= 0 && (current & RENEWING) != 0 && !this.state.compareAndSet(current, current & ~RENEWING)) {
			current = this.state.get();
		}
	}

	boolean isRenewing() {
		int current = this.state.get();
		return current >= 0 && (current & RENEWING) != 0;
	}

	long renewAt() {
		return this.renewAt;
	}

	void renewAt(long instant) {
		this.renewAt = instant;
	}

}
