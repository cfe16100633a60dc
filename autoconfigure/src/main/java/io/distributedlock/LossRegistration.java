package io.distributedlock;

/**
 * An action that was registered by {@link LockLease#onLost}, until it is closed. Close it
 * where the lock may last longer than the work that the action belongs to, as in a nested
 * call. Safe for use by many threads.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LossRegistration extends AutoCloseable {

	/**
	 * Removes the action. One that has not begun does not run any more; one that runs now
	 * is not waited for. Closing it again has no effect.
	 */
	@Override
	void close();

}
