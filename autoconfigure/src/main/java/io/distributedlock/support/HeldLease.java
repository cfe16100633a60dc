package io.distributedlock.support;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockLease;
import io.distributedlock.LossReason;

/**
 * What the engine knows of its own handles beyond {@link LockLease}.
 */
interface HeldLease extends LockLease {

	/** Why the lock was lost, or {@code null} if it was not. */
	@Nullable LossReason lossReason();

	/** Throws the loss, if there was one. */
	void throwLoss(LockError error);

}
