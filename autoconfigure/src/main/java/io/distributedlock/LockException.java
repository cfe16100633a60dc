package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * What can go wrong with a lock. The kinds stay apart: a busy lock is never reported as a
 * failing store, nor a failing store as a busy lock.
 *
 * @since 0.1.0
 */
public abstract sealed class LockException extends RuntimeException permits LockNotAcquiredException, LockLostException,
		LockProviderException, LockInterruptedException, LockConfigurationException {

	private static final long serialVersionUID = 1L;

	private final LockError error;

	LockException(LockError error, String message, @Nullable Throwable cause) {
		super(error.id() + ": " + message, cause);
		this.error = error;
	}

	/**
	 * The entry in the error catalogue.
	 * @return the error
	 */
	public final LockError error() {
		return this.error;
	}

	/**
	 * The identifier in the error catalogue.
	 * @return {@code DL-} and three digits
	 */
	public final String id() {
		return this.error.id();
	}

}
