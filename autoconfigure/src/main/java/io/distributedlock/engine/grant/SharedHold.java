package io.distributedlock.engine.grant;

import java.util.concurrent.CompletableFuture;

/**
 * A hold that may have several handles. The one that is closed last ends it.
 */
interface SharedHold extends JoinableLease {

	/** Ends what {@link #keep()} began, and returns whether the hold ends with it. */
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

	/** Returns when a call that begins now ends, by the nano time. */
	long endOfCall();

}
