package io.distributedlock;

/**
 * Thrown when the thread was interrupted while it waited for a lock. Its interrupt flag
 * is set again, and its request is removed from the store.
 *
 * @since 0.1.0
 */
public final class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient LockKey key;

	/**
	 * Creates an exception.
	 * @param key the key that was waited for
	 */
	public LockInterruptedException(LockKey key) {
		super(LockError.INTERRUPTED, "Interrupted while waiting for lock '" + key + "'", null);
		this.key = key;
	}

	/**
	 * Returns the key that was waited for.
	 * @return the key
	 */
	public LockKey key() {
		return this.key;
	}

}
