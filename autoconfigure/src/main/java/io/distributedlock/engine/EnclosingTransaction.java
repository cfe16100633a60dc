package io.distributedlock.engine;

import io.distributedlock.LockLease;

/**
 * The transaction that the calling thread runs in, if there is one. A lock that is
 * acquired in it has to outlast it: another process must not read before the commit what
 * the lock protects. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface EnclosingTransaction {

	/** No thread runs in a transaction, as far as locks are concerned. */
	EnclosingTransaction NONE = new EnclosingTransaction() {

		@Override
		public boolean isRunning() {
			return false;
		}

		@Override
		public void afterCompletion(Runnable action) {
			throw new IllegalStateException("There is no transaction");
		}

	};

	/**
	 * Returns whether this thread runs in a transaction.
	 * @return {@code true} if {@link #afterCompletion} can be called
	 */
	boolean isRunning();

	/**
	 * Registers an action that runs once, when the transaction of this thread was
	 * committed or rolled back, or has ended in an unknown way.
	 * @param action the action, which may run on another thread
	 */
	void afterCompletion(Runnable action);

	/**
	 * Called when a lock was acquired while the transaction of this thread is running,
	 * before work begins under it. An exception releases the lock again.
	 * @param lease the lock
	 */
	default void acquired(LockLease lease) {
		// The transaction does not have to know its locks.
	}

}
