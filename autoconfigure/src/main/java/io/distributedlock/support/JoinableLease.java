package io.distributedlock.support;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;

/**
 * A handle of the engine, which a nested request can join.
 */
interface JoinableLease extends LockLease {

	/** Whether the handle is for a key, perhaps among others. */
	boolean covers(LockKey key);

	/** Whether the lock is among these grants. */
	boolean isOf(HeldGrants grants);

	/**
	 * Releases the lock, in the background if the call has not ended in time.
	 * @param instantNanos the end of the call by the nano time
	 */
	void closeBy(long instantNanos);

	/** Releases the lock in the background. */
	void closeInBackground();

	/**
	 * Throws the loss of the lock, if it was lost.
	 * @param error the error of the exception
	 */
	void throwLoss(LockError error);

}
