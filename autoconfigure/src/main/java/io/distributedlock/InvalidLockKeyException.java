package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * A key that the values of one call make unusable: null, blank, without elements, or
 * without a text that is the same in every process. The values may be a client's, so that
 * a web client gets 400. Other calls of the same code succeed; code that no call can
 * succeed with is a {@link LockConfigurationException}.
 *
 * @since 0.1.0
 */
public final class InvalidLockKeyException extends LockException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception without a cause.
	 * @param error the entry in the error catalogue
	 * @param problem what is wrong with which key, a sentence without its full stop
	 * @param action what to do about it, a sentence without its full stop
	 */
	public InvalidLockKeyException(LockError error, String problem, String action) {
		this(error, problem, action, null);
	}

	/**
	 * Creates an exception.
	 * @param error the entry in the error catalogue
	 * @param problem what is wrong with which key, a sentence without its full stop
	 * @param action what to do about it, a sentence without its full stop
	 * @param cause why the key could not be evaluated, or {@code null}
	 */
	public InvalidLockKeyException(LockError error, String problem, String action, @Nullable Throwable cause) {
		super(error, problem + ". " + action, cause);
	}

}
