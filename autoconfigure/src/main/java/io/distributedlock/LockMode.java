package io.distributedlock;

/**
 * Who may hold a key at the same time as a request's own hold.
 *
 * @since 0.1.0
 */
public enum LockMode {

	/** Nobody: the key is held by one at a time. */
	EXCLUSIVE,

	/** Any number of other shared holders and holders of permits, as readers. */
	SHARED,

	/**
	 * A limited number of others that have shares of the key, as with a semaphore. A
	 * request names the limit by its permits.
	 */
	PERMIT;

	/**
	 * Returns the mode of requests with a number of permits.
	 * @param permits the number, as {@link LockRequest#permits()} returns it
	 * @return the mode
	 */
	public static LockMode ofPermits(int permits) {
		return (permits == 0) ? EXCLUSIVE : (permits == Integer.MAX_VALUE) ? SHARED : PERMIT;
	}

}
