package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * The base of all exceptions of locks. Their kinds are never mixed up: a busy lock is not
 * reported as a failing store, nor a failing store as a busy lock.
 *
 * @since 0.1.0
 */
public abstract sealed class LockException extends RuntimeException permits LockNotAcquiredException, LockLostException,
		LockProviderException, LockInterruptedException, InvalidLockKeyException, LockConfigurationException {

	private static final long serialVersionUID = 1L;

	private final LockError error;

	LockException(LockError error, String message, @Nullable Throwable cause) {
		super(error.id() + ": " + message, cause);
		this.error = error;
	}

	/**
	 * Returns the entry in the error catalogue.
	 * @return the error
	 */
	public final LockError error() {
		return this.error;
	}

	/**
	 * Returns the identifier in the error catalogue.
	 * @return {@code DL-} and three digits
	 */
	public final String id() {
		return this.error.id();
	}

}
