package io.distributedlock.interceptor;

/**
 * What a locked method does when its body has returned normally but the lock was lost on
 * the way. The loss is logged and listeners are notified in any case.
 *
 * @since 0.1.0
 */
public enum OnLost {

	/** The call fails with {@link io.distributedlock.LockLostException}. */
	FAIL,
	/** The call returns what the body returned. */
	IGNORE

}
