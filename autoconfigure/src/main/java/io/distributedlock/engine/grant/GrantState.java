package io.distributedlock.engine.grant;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LossReason;

/**
 * The state of a grant in one number: held, offered, or ended. The holds of this process
 * follow each other in a grant: between two of them it is offered, and nobody holds it.
 * <pre>
 * held n      offer      offered n+1
 * offered n   pick up    held n
 * held n      release    released
 * offered n   release    released
 * held n      lose       lost n, and its holder is told
 * offered n   lose       lost n, and nobody is told
 * released    NOT_HELD   lost n: the release has found nothing
 * </pre>
 * <p>
 * Invariants: each hold ends exactly once, by one CAS from its number to the offer of the
 * next one, or to an end of the grant; the thread that wins this CAS does what follows.
 * So a handle that is closed late, or twice, ends no hold but its own. A renewal is sent
 * only by the thread that has set the RENEWING bit, which cannot be set after the grant
 * has ended: no renewal begins after the release.
 * <p>
 * It is a superclass of the grant, not a part of it, because there is one per held lock.
 */
public abstract class GrantState {

	private static final int RENEWING = 1;

	private static final int OFFERED = 2;

	/** The bits below the hold number of a grant that has not ended. */
	private static final int NUMBER_SHIFT = 2;

	/** The bits below the hold number of a grant that has ended. */
	private static final int END_SHIFT = 5;

	/** Stands for the number of the present hold, whatever it is. */
	private static final int ANY_HOLD = -1;

	private static final LossReason[] REASONS = LossReason.values();

	/** Updates the state without an object of its own, of which there is one per lock. */
	private static final AtomicIntegerFieldUpdater<GrantState> STATE = AtomicIntegerFieldUpdater
		.newUpdater(GrantState.class, "state");

	/**
	 * Hold number × 4 + OFFERED + RENEWING; once it has ended the complement of the hold
	 * number × 32 + 0 for a release, or 1 + the ordinal of the reason for a loss.
	 */
	private volatile int state;

	/** Whether the hold is current, regardless of the deadline. */
	final boolean isAt(int holdNumber) {
		return isAt(this.state, holdNumber);
	}

	private static boolean isAt(int state, int holdNumber) {
		return state >= 0 && (state & OFFERED) == 0 && state >> NUMBER_SHIFT == holdNumber;
	}

	/** Whether the grant has not ended: somebody holds it, or it is offered. */
	public final boolean isCurrent() {
		return this.state >= 0;
	}

	/** Whether the grant waits for the next holder of this process. */
	public final boolean isOffered() {
		return isOffered(this.state);
	}

	private static boolean isOffered(int state) {
		return state >= 0 && (state & OFFERED) != 0;
	}

	/** Returns the number of the present hold, or of the one that is offered. */
	public final int holdNumber() {
		int current = this.state;
		return (current >= 0) ? current >> NUMBER_SHIFT : ~current >> END_SHIFT;
	}

	/** Returns why the grant was lost, whoever held it. */
	final @Nullable LossReason lossReason() {
		int current = this.state;
		int end = ~current & ((1 << END_SHIFT) - 1);
		return (current < 0 && end > 0) ? REASONS[end - 1] : null;
	}

	/**
	 * Returns why a hold was lost.
	 * @return the reason, or {@code null} if it is held or was released
	 */
	final @Nullable LossReason lossReason(int holdNumber) {
		int current = this.state;
		return (current < 0 && ~current >> END_SHIFT == holdNumber) ? lossReason() : null;
	}

	private static int ended(int state, int end) {
		return ~((state >> NUMBER_SHIFT << END_SHIFT) + end);
	}

	@SuppressWarnings("EnumOrdinal") // never leaves the process
	private static int end(LossReason reason) {
		return 1 + reason.ordinal();
	}

	/**
	 * Ends a hold in order to offer the grant to the next one of this process. Guarded by
	 * the lock of the queue.
	 * @param holdNumber the number of the hold whose handle is closed
	 * @return {@code false} if that hold had ended before, or a renewal is under way
	 */
	public final boolean offer(int holdNumber) {
		int held = holdNumber << NUMBER_SHIFT;
		return STATE.compareAndSet(this, held, ((holdNumber + 1) << NUMBER_SHIFT) | OFFERED);
	}

	/**
	 * Begins the hold that was offered. Guarded by the lock of the queue.
	 * @return {@code false} if the grant has ended meanwhile
	 */
	public final boolean pickUp() {
		int current = this.state;
		while (isOffered(current)) {
			if (STATE.compareAndSet(this, current, current & ~OFFERED)) {
				return true;
			}
			current = this.state;
		}
		return false;
	}

	/**
	 * Ends a grant that is offered in order to release it.
	 * @return {@code false} if it is not offered any more
	 */
	public final boolean releaseOffered() {
		int current = this.state;
		while (isOffered(current)) {
			if (STATE.compareAndSet(this, current, ended(current, 0))) {
				return true;
			}
			current = this.state;
		}
		return false;
	}

	/**
	 * Ends the hold in order to release the grant.
	 * @param holdNumber the number of the hold whose handle is closed
	 * @return {@code false} if that hold had ended before
	 */
	public final boolean release(int holdNumber) {
		int current = this.state;
		while (isAt(current, holdNumber)) {
			if (STATE.compareAndSet(this, current, ended(current, 0))) {
				return true;
			}
			current = this.state;
		}
		return false;
	}

	/**
	 * Ends the grant because a hold of it, or the offer of one, was judged as lost.
	 * @param holdNumber the number of that hold
	 * @param reason the reason of the loss
	 * @return what it has ended: nothing if another hold has begun, or was offered, since
	 */
	public final LossEffect lose(int holdNumber, LossReason reason) {
		int current = this.state;
		while (current >= 0 && (holdNumber == ANY_HOLD || current >> NUMBER_SHIFT == holdNumber)) {
			if (STATE.compareAndSet(this, current, ended(current, end(reason)))) {
				return isOffered(current) ? LossEffect.OFFER_ENDED : LossEffect.HOLD_ENDED;
			}
			current = this.state;
		}
		return LossEffect.ALREADY_ENDED;
	}

	/**
	 * Ends the grant because it was lost, whoever holds it.
	 * @param reason the reason of the loss
	 * @return what it has ended
	 */
	public final LossEffect lose(LossReason reason) {
		return lose(ANY_HOLD, reason);
	}

	/** Turns a release into a loss: the store's first, clear answer was NOT_HELD. */
	final boolean loseAtRelease() {
		int current = this.state;
		return current < 0 && lossReason() == null
				&& STATE.compareAndSet(this, current, current - end(LossReason.NOT_HELD));
	}

	/** Claims the grant for one renewal; fails after the grant has ended. */
	public final boolean claimRenewal() {
		int current = this.state;
		return current >= 0 && (current & RENEWING) == 0 && STATE.compareAndSet(this, current, current | RENEWING);
	}

	/** Ends the renewal that was claimed. */
	public final void endRenewal() {
		int current = this.state;
		while (current >= 0 && (current & RENEWING) != 0 && !STATE.compareAndSet(this, current, current & ~RENEWING)) {
			current = this.state;
		}
	}

	/** Whether a renewal is under way. */
	public final boolean isRenewing() {
		int current = this.state;
		return current >= 0 && (current & RENEWING) != 0;
	}

	/** The effect of a loss on a grant. */
	public enum LossEffect {

		/** There is none: the grant had ended before. */
		ALREADY_ENDED,
		/** An offer has ended, which nobody is told. */
		OFFER_ENDED,
		/** A hold has ended, whose holder is told. */
		HOLD_ENDED

	}

}
