package io.distributedlock;

/**
 * An action that was registered by {@link LockLease#onLost}, until it is removed. Remove
 * it where the lock may last longer than the work that the action belongs to, as in a
 * nested call. Safe for use by many threads.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LossRegistration {

	/**
	 * Removes the action. One that has not begun does not run any more; one that runs now
	 * is not waited for. Removing it again has no effect.
	 */
	void remove();

}
