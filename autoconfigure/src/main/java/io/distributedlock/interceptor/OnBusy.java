package io.distributedlock.interceptor;

/**
 * Policy of a locked method for a lock that stays busy for the whole wait time. Concerns
 * its own lock alone: the exception of a busy lock in its body is the body's exception.
 *
 * @since 0.1.0
 */
public enum OnBusy {

	/** The call fails with {@link io.distributedlock.LockNotAcquiredException}. */
	FAIL,
	/**
	 * The body is not run, and the call returns {@code null}, or
	 * {@link java.util.Optional#empty()} where the method returns an {@code Optional}.
	 * Not for methods with a primitive result.
	 */
	SKIP

}
