package io.distributedlock.redis;

import io.distributedlock.FencingToken;
import io.distributedlock.LockError;

/**
 * Thrown when a write was refused, because a later holder of the lock has written the
 * value. Nothing was written.
 *
 * @since 0.1.0
 */
public final class StaleWriteException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient FencingToken token;

	StaleWriteException(String name, FencingToken token) {
		super(LockError.STALE_HOLDER.describe("A later holder of the lock has written '" + name
				+ "', so that the write of this holder (token " + token + ") was refused",
				"Repeat the work under the lock, or use a longer lease"));
		this.token = token;
	}

	/**
	 * Returns the token of the holder that was refused.
	 * @return the token
	 */
	public FencingToken token() {
		return this.token;
	}

}
