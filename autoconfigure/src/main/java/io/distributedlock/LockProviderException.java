package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store could not answer: it is down, too slow, or refuses the command.
 * Whether the command took effect may be unclear. A lock that may have been granted is
 * released in the background and never renewed.
 *
 * @since 0.1.0
 */
public final class LockProviderException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String provider;

	private final String problem;

	private final boolean effectUnknown;

	/**
	 * Creates a failure after which it is unclear whether the command took effect.
	 * @param error the entry in the error catalogue
	 * @param provider the name of the provider
	 * @param problem what went wrong, as the rest of a sentence about the store
	 * @param cause the store's own exception, or {@code null}
	 */
	public LockProviderException(LockError error, String provider, String problem, @Nullable Throwable cause) {
		this(error, provider, problem, cause, true);
	}

	private LockProviderException(LockError error, String provider, String problem, @Nullable Throwable cause,
			boolean effectUnknown) {
		super(error, "Lock store '" + provider + "' " + problem, cause);
		this.provider = provider;
		this.problem = problem;
		this.effectUnknown = effectUnknown;
	}

	/**
	 * Creates a failure after which nothing can have taken effect in the store, such as a
	 * missing connection or a refused command.
	 * @param error the entry in the error catalogue
	 * @param provider the name of the provider
	 * @param problem what went wrong, as the rest of a sentence about the store
	 * @param cause the store's own exception, or {@code null}
	 * @return the exception
	 */
	public static LockProviderException nothingSent(LockError error, String provider, String problem,
			@Nullable Throwable cause) {
		return new LockProviderException(error, provider, problem, cause, false);
	}

	/**
	 * Returns the name of the provider whose store could not answer.
	 * @return the name
	 */
	public String provider() {
		return this.provider;
	}

	/**
	 * Returns what went wrong, as the rest of a sentence about the store.
	 * @return the message without its beginning
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * Returns whether the same command may succeed soon: the store was too slow, or
	 * failed in a way that may pass. A request asks again while it has wait time left.
	 * @return {@code false} for a missing right or a store that is not set up, and while
	 * the application is shutting down
	 */
	public boolean isTransient() {
		return switch (error()) {
			case STORE_TIMEOUT, STORE_FAILED, WRITES_REFUSED -> true;
			default -> false;
		};
	}

	/**
	 * Returns whether it is unknown if the command took effect.
	 * @return {@code false} if nothing was sent, or the store refused the command before
	 * it changed anything
	 */
	public boolean isEffectUnknown() {
		return this.effectUnknown;
	}

}
