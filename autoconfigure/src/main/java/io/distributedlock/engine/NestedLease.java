package io.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;
import io.distributedlock.engine.grant.HeldGrant;
import io.distributedlock.engine.grant.HeldGrants;
import io.distributedlock.engine.grant.JoinableLease;

/**
 * The handle of a nested call for one key, over the handle of the enclosing call. Closing
 * it releases nothing.
 */
final class NestedLease implements JoinableLease {

	private final LockKey key;

	private final JoinableLease outer;

	NestedLease(LockKey key, JoinableLease outer) {
		this.key = key;
		this.outer = outer.owner(key);
	}

	@Override
	public boolean covers(LockKey other) {
		return this.key.equals(other);
	}

	@Override
	public JoinableLease owner(LockKey other) {
		return this.outer;
	}

	@Override
	public long minHoldNanos(LockKey other) {
		return this.outer.minHoldNanos(other);
	}

	@Override
	public void prolongMinHold(LockKey other, long untilNanos, Consumer<HeldGrant> uncovered) {
		this.outer.prolongMinHold(other, untilNanos, uncovered);
	}

	@Override
	public boolean dependsOn(JoinableLease enclosing) {
		return this.outer == enclosing || this.outer.dependsOn(enclosing);
	}

	@Override
	public boolean isOf(HeldGrants grants) {
		return this.outer.isOf(grants);
	}

	@Override
	public List<LockKey> keys() {
		return List.of(this.key);
	}

	@Override
	public FencingToken fencingToken() {
		return this.outer.fencingToken(this.key);
	}

	@Override
	public FencingToken fencingToken(LockKey other) {
		if (!covers(other)) {
			throw new IllegalArgumentException(
					"Lock '" + other + "' is not held by this handle, but '" + this.key + "' is");
		}
		return fencingToken();
	}

	@Override
	public String tokenSource() {
		return this.outer.tokenSource();
	}

	@Override
	public boolean isHeld() {
		return this.outer.isHeld();
	}

	@Override
	public Duration remaining() {
		return this.outer.remaining();
	}

	@Override
	public @Nullable LossReason lossReason() {
		return this.outer.lossReason();
	}

	@Override
	public void ensureHeld() {
		this.outer.ensureHeld();
	}

	@Override
	public void throwLoss(LockError error) {
		this.outer.throwLoss(error);
	}

	@Override
	public LossRegistration onLost(Runnable action) {
		return this.outer.onLost(action);
	}

	@Override
	public void close() {
		// The enclosing call releases the lock.
	}

	@Override
	public void closeBy(long instantNanos) {
		// As close().
	}

	@Override
	public void closeInBackground() {
		// As close().
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		// As close().
		return CompletableFuture.completedFuture(null);
	}

	/** The scopes of the enclosing call are open. */
	@Override
	public @Nullable ObserverScope openObserverScope() {
		return null;
	}

	@Override
	public @Nullable JoinableLease keep() {
		return this.outer.keep();
	}

	@Override
	public String toString() {
		return this.outer.toString();
	}

}
