package io.distributedlock.interceptor;

/**
 * What a locked method does when its lock stays busy for the whole wait time. Concerns
 * its own lock alone: a busy lock that its body runs into is the body's exception.
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
