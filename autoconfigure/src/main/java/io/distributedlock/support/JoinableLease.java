package io.distributedlock.support;

import io.distributedlock.LockError;
import io.distributedlock.LockLease;
import io.distributedlock.provider.Deadline;

/**
 * A handle of the engine, which a nested request can join.
 */
interface JoinableLease extends LockLease {

	/** Whether the lock was granted to this engine. */
	boolean isOf(LockEngine engine);

	/**
	 * Releases the lock, in the background if the call could not end in time.
	 * @param deadline the end of the call
	 */
	void closeBy(Deadline deadline);

	/**
	 * Throws the loss of the lock, if it was lost.
	 * @param error the error of the exception
	 */
	void throwLoss(LockError error);

}
