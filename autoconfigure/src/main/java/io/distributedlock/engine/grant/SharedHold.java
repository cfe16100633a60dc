package io.distributedlock.engine.grant;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LossReason;
import io.distributedlock.LossRegistration;
import io.distributedlock.ObserverScope;

/**
 * A hold as its handles know it: it counts those that release it, and ends with the one
 * that is closed last.
 */
interface SharedHold {

	LockKey key();

	FencingToken fencingToken();

	boolean isHeld();

	@Nullable ObserverScope openObserverScope();

	HeldGrants heldGrants();

	HeldGrant heldGrant();

	@Nullable LossReason lossReason();

	LossRegistration onLost(Runnable action);

	/** Counts one more handle, unless the hold has ended. */
	boolean keep();

	/** Counts one handle less, and returns whether it was the last. */
	boolean endKeep();

	/**
	 * Releases the lock, in the background if the call has not ended in time.
	 * @param instantNanos the end of the call by the nano time
	 */
	void endBy(long instantNanos);

	/** Releases the lock in the background. */
	void endInBackground();

	/** Releases the lock without waiting, and tells the end. */
	CompletableFuture<Void> endAsync();

}
