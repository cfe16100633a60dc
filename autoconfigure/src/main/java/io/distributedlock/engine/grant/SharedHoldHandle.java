package io.distributedlock.engine.grant;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;

/**
 * A further handle of a hold: the hold lasts until it is closed too. Closing it again has
 * no effect.
 */
final class SharedHoldHandle implements JoinableLease {

	private final SharedHold hold;

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * Creates the handle.
	 * @param hold the hold, which counts this handle among its keepers already
	 */
	SharedHoldHandle(SharedHold hold) {
		this.hold = hold;
	}

	private boolean endKeep() {
		return this.closed.compareAndSet(false, true) && this.hold.endKeep();
	}

	@Override
	public void close() {
		closeBy(this.hold.endOfCall());
	}

	@Override
	public void closeBy(long instantNanos) {
		if (endKeep()) {
			this.hold.endBy(instantNanos);
		}
	}

	@Override
	public void closeInBackground() {
		if (endKeep()) {
			this.hold.endInBackground();
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return endKeep() ? this.hold.endAsync() : CompletableFuture.completedFuture(null);
	}

	@Override
	public @Nullable JoinableLease keep() {
		return this.closed.get() ? null : this.hold.keep();
	}

	@Override
	public boolean covers(LockKey key) {
		return this.hold.covers(key);
	}

	@Override
	public long minHoldNanos(LockKey key) {
		return this.hold.minHoldNanos(key);
	}

	@Override
	public void prolongMinHold(LockKey key, long untilNanos, Consumer<HeldGrant> uncovered) {
		this.hold.prolongMinHold(key, untilNanos, uncovered);
	}

	@Override
	public boolean isOf(HeldGrants grants) {
		return this.hold.isOf(grants);
	}

	@Override
	public List<LockKey> keys() {
		return this.hold.keys();
	}

	@Override
	public FencingToken fencingToken() {
		return this.hold.fencingToken();
	}

	@Override
	public FencingToken fencingToken(LockKey key) {
		return this.hold.fencingToken(key);
	}

	@Override
	public String tokenSource() {
		return this.hold.tokenSource();
	}

	@Override
	public boolean isHeld() {
		return !this.closed.get() && this.hold.isHeld();
	}

	@Override
	public Duration remaining() {
		return this.closed.get() ? Duration.ZERO : this.hold.remaining();
	}

	@Override
	public @Nullable LossReason lossReason() {
		return this.hold.lossReason();
	}

	@Override
	public void ensureHeld() {
		this.hold.throwLoss(LockError.LOST);
		if (!isHeld()) {
			throw new IllegalStateException("This handle of " + this.hold + " was closed before");
		}
	}

	@Override
	public void throwLoss(LockError error) {
		this.hold.throwLoss(error);
	}

	@Override
	public @Nullable ObserverScope openObserverScope() {
		return this.hold.openObserverScope();
	}

	@Override
	public LossRegistration onLost(Runnable action) {
		return this.hold.onLost(action);
	}

	@Override
	public String toString() {
		return this.hold.toString();
	}

}
