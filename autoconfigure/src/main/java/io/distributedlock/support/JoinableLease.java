package io.distributedlock.support;

import io.distributedlock.LockError;
import io.distributedlock.LockLease;

/**
 * What the engine knows of its own handles beyond {@link LockLease}.
 */
interface JoinableLease extends LockLease {

	/** Whether the lock was granted to this engine. */
	boolean isOf(LockEngine engine);

	/**
	 * Gives the lock back, in the background where the call could not end in time.
	 * @param instant when the call has to end, by {@link System#nanoTime()}
	 */
	void closeBy(long instant);

	/** Throws the loss, if there was one. */
	void throwLoss(LockError error);

}
