package io.distributedlock.engine.grant;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLostException;
import io.distributedlock.LockSnapshot;
import io.distributedlock.LossReason;
import io.distributedlock.engine.concurrent.EngineEnvironment;
import io.distributedlock.engine.concurrent.Nanos;
import io.distributedlock.engine.event.GrantHandle;

/**
 * One hold of a grant, and its handle. A handle whose hold has ended has no effect any
 * more.
 */
public final class Hold extends GrantHandle implements SharedHold {

	/** Updates a field without an object of its own, of which there is one per lock. */
	private static final VarHandle KEEPERS;

	static {
		try {
			KEEPERS = MethodHandles.lookup().findVarHandle(Hold.class, "keepers", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** Added to the number of keepers once the handle itself is closed. */
	private static final int CLOSED = Integer.MIN_VALUE;

	private final HeldGrants heldGrants;

	private final HeldGrant heldGrant;

	private final int holdNumber;

	private final String requester;

	private final long sinceNanos;

	/**
	 * The number of handles that keep the hold beside this one, and {@link #CLOSED}. The
	 * hold ends once, by the close that leaves {@link #CLOSED} alone; nothing changes it
	 * after that.
	 */
	private volatile int keepers;

	/**
	 * Creates the handle of a hold, and enters it in the grant.
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
		heldGrant.heldBy(this);
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
				fencingToken());
	}

	@Override
	protected EngineEnvironment environment() {
		return this.heldGrants.events().environment();
	}

	@Override
	public boolean covers(LockKey key) {
		return key().equals(key);
	}

	@Override
	public long minHoldNanos(LockKey key) {
		return this.heldGrant.minHoldNanos();
	}

	@Override
	public void prolongMinHold(LockKey key, long untilNanos, Consumer<HeldGrant> uncovered) {
		if (this.heldGrant.prolongMinHold(untilNanos)) {
			uncovered.accept(this.heldGrant);
		}
	}

	@Override
	public void forgetMinHold() {
		this.heldGrant.forgetMinHold();
	}

	@Override
	public boolean isOf(HeldGrants grants) {
		return this.heldGrants == grants;
	}

	@Override
	public List<LockKey> keys() {
		return List.of(key());
	}

	@Override
	public FencingToken fencingToken() {
		return this.heldGrant.token(this.holdNumber);
	}

	@Override
	public FencingToken fencingToken(LockKey key) {
		if (!key.equals(key())) {
			throw new IllegalArgumentException("Lock '" + key + "' is not held by this handle, but '" + key() + "' is");
		}
		return fencingToken();
	}

	@Override
	public String tokenSource() {
		return this.heldGrants.providerName();
	}

	@Override
	public boolean isHeld() {
		while (this.heldGrant.isAt(this.holdNumber)) {
			if (!Nanos.isPast(this.heldGrant.deadlineNanos(), this.heldGrants.nanoTime())) {
				return true;
			}
			this.heldGrants.expire(this.heldGrant, this.holdNumber);
		}
		return false;
	}

	@Override
	public Duration remaining() {
		return isHeld() ? Duration.ofNanos(Math.max(0, this.heldGrant.deadlineNanos() - this.heldGrants.nanoTime()))
				: Duration.ZERO;
	}

	@Override
	public @Nullable LossReason lossReason() {
		return isHeld() ? null : this.heldGrant.lossReason(this.holdNumber);
	}

	@Override
	public void ensureHeld() {
		if (!isHeld()) {
			throwLoss(LockError.LOST);
			throw new IllegalStateException("Lock '" + key() + "' was released before");
		}
	}

	@Override
	public void throwLoss(LockError error) {
		LossReason reason = lossReason();
		if (reason != null) {
			throw new LockLostException(error, key(), reason, null);
		}
	}

	@Override
	public void close() {
		closeBy(this.heldGrants.endOfCall());
	}

	@Override
	public void closeBy(long instantNanos) {
		if (closeOnce()) {
			endBy(instantNanos);
		}
	}

	@Override
	public void closeInBackground() {
		if (closeOnce()) {
			endInBackground();
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return closeOnce() ? endAsync() : CompletableFuture.completedFuture(null);
	}

	/** Returns whether this close is the first, and nobody keeps the hold. */
	private boolean closeOnce() {
		int present;
		do {
			present = this.keepers;
			if (present < 0) {
				return false;
			}
		}
		while (!KEEPERS.compareAndSet(this, present, present | CLOSED));
		return present == 0;
	}

	@Override
	public @Nullable JoinableLease keep() {
		int present = this.keepers;
		while (present != CLOSED && !KEEPERS.compareAndSet(this, present, present + 1)) {
			present = this.keepers;
		}
		return (present != CLOSED) ? new SharedHoldHandle(this) : null;
	}

	@Override
	public boolean endKeep() {
		return (int) KEEPERS.getAndAdd(this, -1) - 1 == CLOSED;
	}

	@Override
	public void endBy(long instantNanos) {
		if (!handOff() && endHold()) {
			this.heldGrants.release(this.heldGrant, instantNanos);
		}
	}

	@Override
	public void endInBackground() {
		if (!handOff()) {
			endWithoutHandOff();
		}
	}

	@Override
	public CompletableFuture<Void> endAsync() {
		return (!handOff() && endHold()) ? this.heldGrants.releaseAsync(this.heldGrant)
				: CompletableFuture.completedFuture(null);
	}

	@Override
	public long endOfCall() {
		return this.heldGrants.endOfCall();
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

	/** Ends the hold in order to release the grant; cleans up after one that was lost. */
	private boolean endHold() {
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
