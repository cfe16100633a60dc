package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * A mistake of the application: a key that is null, a lease that cannot be, an annotation
 * that could have no effect. Found at start wherever that is possible, else at the call,
 * before anything is locked.
 *
 * @since 0.1.0
 */
public final class LockConfigurationException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String action;

	public LockConfigurationException(LockError error, String problem, String action) {
		this(error, problem, action, null);
	}

	public LockConfigurationException(LockError error, String problem, String action, @Nullable Throwable cause) {
		super(error, problem + ". " + action, cause);
		this.problem = problem;
		this.action = action;
	}

	/**
	 * What is wrong, and where.
	 * @return a sentence without its full stop
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * What to do about it.
	 * @return a sentence
	 */
	public String action() {
		return this.action;
	}

}
