package io.distributedlock;

/**
 * Policy of a locked method for a lock that was lost before its body returned normally.
 * The loss is logged and listeners are notified in any case.
 *
 * @since 0.1.0
 */
public enum OnLost {

	/** The call fails with {@link LockLostException}. */
	FAIL,
	/**
	 * As {@link #FAIL}, and the body is told at once: its thread is interrupted, once, or
	 * its future is cancelled, or the subscription to its publisher. The thread's
	 * interrupted status is clear afterwards.
	 */
	INTERRUPT,
	/** The call returns what the body returned. */
	IGNORE

}
