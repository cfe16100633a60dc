package io.distributedlock;

/**
 * Thrown when the database has refused the transaction of a holder, because a later
 * holder of the lock has begun one: the lock had passed to another, whether this process
 * knew it or not. Nothing of the transaction was committed.
 *
 * @since 0.1.0
 */
public final class StaleHolderException extends LockLostException {

	private static final long serialVersionUID = 1L;

	private final transient FencingToken token;

	/**
	 * Creates an exception.
	 * @param key the key that was lost
	 * @param token the token of the holder that was refused
	 */
	public StaleHolderException(LockKey key, FencingToken token) {
		super(LockError.STALE_HOLDER,
				"Lock '" + key + "' has passed to a later holder, whose fence the database has: the transaction of"
						+ " this holder (token " + token + ") was refused. Repeat the call, which acquires the lock"
						+ " again, or use a longer lease",
				key);
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
