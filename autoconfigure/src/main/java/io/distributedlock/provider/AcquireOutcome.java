package io.distributedlock.provider;

/**
 * How a request for a lock ended.
 *
 * @since 0.1.0
 */
public enum AcquireOutcome {

	/** The lock is held. */
	ACQUIRED,
	/** Another owner held the lock for the whole wait time. */
	BUSY,
	/** The store could not answer. */
	FAILED,
	/** The waiting thread was interrupted, or the future cancelled. */
	INTERRUPTED

}
