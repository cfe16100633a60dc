package io.distributedlock;

/**
 * The mode of a lock: who else may hold its key at the same time.
 *
 * @since 0.1.0
 */
public enum LockMode {

	/** No other holder. */
	EXCLUSIVE,

	/** Any number of shared holders and holders of permits, as for readers. */
	SHARED,

	/**
	 * A limited number of shared holders and holders of permits, as with a semaphore. A
	 * request names the limit, which counts its own holder, by
	 * {@link LockRequest#withPermits}.
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
