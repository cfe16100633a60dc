package io.distributedlock.fencing;

import org.springframework.dao.PessimisticLockingFailureException;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;

/**
 * Thrown when the transaction of another holder kept the fence of a lock for longer than
 * a transaction waits for it. The other one may be paused: nothing was refused, and the
 * same call may succeed later.
 *
 * @since 0.1.0
 */
public final class FenceTimeoutException extends PessimisticLockingFailureException {

	private static final long serialVersionUID = 1L;

	FenceTimeoutException(LockKey key, int seconds, Throwable cause) {
		super(LockError.FENCE_TIMEOUT.describe(
				"The transaction of an earlier holder of lock '" + key
						+ "' has not ended, so that its fence was not free within " + seconds
						+ " s, or within a lower limit of the database for row locks",
				"Repeat the call, keep transactions short, or raise distributed-lock.fencing.timeout and the"
						+ " database's limit (lock_timeout, innodb_lock_wait_timeout)"),
				cause);
	}

}
