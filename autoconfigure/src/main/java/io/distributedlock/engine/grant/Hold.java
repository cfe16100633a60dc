package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.GrantHandle;

/**
 * One hold of a grant. It lasts until the last of its handles is closed, or until it is
 * lost; after that closing has no effect any more.
 */
public final class Hold extends GrantHandle {

	/** Updates a field without an object of its own, of which there is one per lock. */
	private static final AtomicIntegerFieldUpdater<Hold> KEEPERS = AtomicIntegerFieldUpdater.newUpdater(Hold.class,
			"keepers");

	private final HeldGrants heldGrants;

	private final HeldGrant heldGrant;

	private final int holdNumber;

	private final String requester;

	private final long sinceNanos;

	private final EngineLease lease;

	/**
	 * The number of handles that release the hold, none of which is closed. It ends once,
	 * with the last of them; nothing changes it after that.
	 */
	private volatile int keepers = 1;

	/**
	 * Creates a hold with its handle, and enters it in the grant.
	 * @param holdNumber the number of the hold in its grant
	 * @param requester who requested it, for people
	 * @param sinceNanos when it begins
	 */
	public Hold(HeldGrants heldGrants, HeldGrant heldGrant, int holdNumber, String requester, long sinceNanos) {
		super(heldGrants.events().newHoldObservation());
		this.heldGrants = heldGrants;
		this.heldGrant = heldGrant;
		this.holdNumber = holdNumber;
		this.requester = requester;
		this.sinceNanos = sinceNanos;
		this.lease = new EngineLease(this);
		heldGrant.heldBy(this);
	}

	@Override
	public EngineLease lease() {
		return this.lease;
	}

	public HeldGrants heldGrants() {
		return this.heldGrants;
	}

	public HeldGrant heldGrant() {
		return this.heldGrant;
	}

	public int holdNumber() {
		return this.holdNumber;
	}

	/** Returns when the hold began, by the nano time. */
	public long sinceNanos() {
		return this.sinceNanos;
	}

	@Override
	public LockKey key() {
		return this.heldGrant.key();
	}

	@Override
	public LockSnapshot.Held view(long nowNanos) {
		return new LockSnapshot.Held(key(), this.requester, Duration.ofNanos(nowNanos - this.sinceNanos),
				this.heldGrant.lease(), Duration.ofNanos(Math.max(0, this.heldGrant.deadlineNanos() - nowNanos)),
				fencingToken(), this.heldGrant.mode());
	}

	@Override
	protected EngineEnvironment environment() {
		return this.heldGrants.events().environment();
	}

	@Override
	public FencingToken fencingToken() {
		return this.heldGrant.token(this.holdNumber);
	}

	@Override
	public boolean isHeld() {
		while (this.heldGrant.isAt(this.holdNumber) && this.heldGrant.has(this)) {
			if (!Nanos.isPast(this.heldGrant.deadlineNanos(), this.heldGrants.nanoTime())) {
				return true;
			}
			this.heldGrants.expire(this.heldGrant, this.holdNumber);
		}
		return false;
	}

	public @Nullable LossReason lossReason() {
		return (isHeld() || !this.heldGrant.has(this)) ? null : this.heldGrant.lossReason(this.holdNumber);
	}

	/** Counts one more handle, unless the hold has ended. */
	public boolean keep() {
		int present = this.keepers;
		while (present != 0 && !KEEPERS.compareAndSet(this, present, present + 1)) {
			present = this.keepers;
		}
		return present != 0;
	}

	/** Counts one handle less, and returns whether it was the last. */
	public boolean endKeep() {
		return KEEPERS.decrementAndGet(this) == 0;
	}

	/**
	 * Releases the lock, in the background if the call has not ended in time.
	 * @param instantNanos the end of the call by the nano time
	 */
	public void endBy(long instantNanos) {
		if (!handOff() && endHold()) {
			this.heldGrants.release(this.heldGrant, instantNanos);
		}
	}

	/** Releases the lock in the background. */
	public void endInBackground() {
		if (!handOff()) {
			endWithoutHandOff();
		}
	}

	/** Releases the lock without waiting; returns what completes at the end of that. */
	public CompletableFuture<Void> endAsync() {
		return (!handOff() && endHold()) ? this.heldGrants.releaseAsync(this.heldGrant)
				: CompletableFuture.completedFuture(null);
	}

	/** Releases a grant that could not be registered, and is nothing for the next one. */
	public void endWithoutHandOff() {
		if (endHold()) {
			this.heldGrants.releaseInBackground(this.heldGrant);
		}
	}

	/**
	 * Hands the grant off to the next waiter of this process, if that is possible, now
	 * that the work of its holder has ended.
	 */
	private boolean handOff() {
		this.heldGrants.workEnded(this.heldGrant);
		return isHeld() && this.heldGrants.handOff(this.heldGrant, this.holdNumber);
	}

	/**
	 * Ends the hold in order to release the grant, unless others have it too; cleans up
	 * after one that was lost.
	 */
	private boolean endHold() {
		if (this.heldGrant.leave(this)) {
			if (!this.heldGrant.has(this)) {
				this.heldGrants.events().released(this);
			}
			return false;
		}
		if (isHeld() && this.heldGrant.release(this.holdNumber)) {
			return true;
		}
		if (this.heldGrant.lossReason(this.holdNumber) != null) {
			this.heldGrants.abandon(this.heldGrant);
		}
		return false;
	}

	@Override
	public String toString() {
		return "Lock '" + key() + "', token " + fencingToken() + (isHeld() ? ", held" : ", not held");
	}

}
