package io.distributedlock.interceptor;

import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;

/** The losses of locks as exceptions. */
final class LossExceptions {

	private LossExceptions() {
	}

	/** Returns the loss of a lock that was lost. */
	static RuntimeException of(LockLease lease) {
		try {
			lease.ensureHeld();
			return new IllegalStateException("A lock that was lost is held: " + lease);
		}
		catch (LockLostException loss) {
			return loss;
		}
	}

}
