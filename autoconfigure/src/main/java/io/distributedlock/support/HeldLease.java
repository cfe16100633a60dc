package io.distributedlock.support;

import io.distributedlock.LockError;
import io.distributedlock.LockLease;

/**
 * What the engine knows of its own handles beyond {@link LockLease}.
 */
interface HeldLease extends LockLease {

	/** Throws the loss, if there was one. */
	void throwLoss(LockError error);

}
