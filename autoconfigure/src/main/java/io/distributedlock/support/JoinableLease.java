package io.distributedlock.support;

import io.distributedlock.LockError;
import io.distributedlock.LockLease;

/**
 * A handle of the engine, which a nested request can join.
 */
interface JoinableLease extends LockLease {

	/** Whether the lock was granted to this engine. */
	boolean isOf(LockEngine engine);

	/**
	 * Releases the lock, in the background if the call could not end in time.
	 * @param deadlineNanos when the call has to end, by {@link System#nanoTime()}
	 */
	void closeBy(long deadlineNanos);

	/**
	 * Throws the loss of the lock, if it was lost.
	 * @param error the error of the exception
	 */
	void throwLoss(LockError error);

}
