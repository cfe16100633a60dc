package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * A mistake of the application, such as a lease out of range, or an annotation without
 * effect. It is found at start where that is possible, and otherwise at the call, before
 * a lock is acquired. A key that only the values of one call make wrong is an
 * {@link InvalidLockKeyException}.
 *
 * @since 0.1.0
 */
public final class LockConfigurationException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String action;

	/**
	 * Creates an exception without a cause.
	 * @param error the entry in the error catalogue
	 * @param problem what is wrong and where, a sentence without its full stop
	 * @param action what to do about it, a sentence without its full stop
	 */
	public LockConfigurationException(LockError error, String problem, String action) {
		this(error, problem, action, null);
	}

	/**
	 * Creates an exception.
	 * @param error the entry in the error catalogue
	 * @param problem what is wrong and where, a sentence without its full stop
	 * @param action what to do about it, a sentence without its full stop
	 * @param cause the cause, or {@code null}
	 */
	public LockConfigurationException(LockError error, String problem, String action, @Nullable Throwable cause) {
		super(error, problem + ". " + action, cause);
		this.problem = problem;
		this.action = action;
	}

	/**
	 * Returns what is wrong, and where.
	 * @return a sentence without its full stop
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * Returns what to do about it.
	 * @return a sentence without its full stop
	 */
	public String action() {
		return this.action;
	}

}
