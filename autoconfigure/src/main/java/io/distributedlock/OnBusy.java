package io.distributedlock;

/**
 * Policy of a locked method without a fallback for a lock that stays busy for the whole
 * wait time. Concerns its own lock alone: the exception of a busy lock in its body is the
 * body's exception.
 *
 * @since 0.1.0
 */
public enum OnBusy {

	/**
	 * The call fails with {@link LockNotAcquiredException}, or as the
	 * {@link LockFailureHandler} of the application decides.
	 */
	FAIL,
	/**
	 * The body is not run, and the call returns an empty result: an empty
	 * {@code Optional}, array or collection, a completed future, an empty publisher, and
	 * otherwise {@code null}. Not for methods with a primitive result, nor for Kotlin
	 * methods whose result is not nullable and has no empty value.
	 */
	SKIP

}
