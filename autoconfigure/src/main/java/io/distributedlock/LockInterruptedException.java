package io.distributedlock;

/**
 * The thread was interrupted while it waited for a lock. Its interrupt flag is set again,
 * and nothing is left behind in the store.
 *
 * @since 0.1.0
 */
public final class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	private final transient LockKey key;

	public LockInterruptedException(LockKey key) {
		super(LockError.INTERRUPTED, "Interrupted while waiting for lock '" + key + "'", null);
		this.key = key;
	}

	/**
	 * The key that was waited for.
	 * @return the key
	 */
	public LockKey key() {
		return this.key;
	}

}
