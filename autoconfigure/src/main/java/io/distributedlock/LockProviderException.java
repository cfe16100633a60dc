package io.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * The store could not answer: it is down, too slow, or refuses. Whether the command took
 * effect may be unclear; what may have been granted is released in the background and
 * never renewed.
 *
 * @since 0.1.0
 */
public final class LockProviderException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String provider;

	public LockProviderException(LockError error, String provider, String problem, @Nullable Throwable cause) {
		super(error, "Lock store '" + provider + "' " + problem, cause);
		this.provider = provider;
	}

	/**
	 * The name of the provider whose store could not answer.
	 * @return the name
	 */
	public String provider() {
		return this.provider;
	}

}
