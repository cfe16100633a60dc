package io.distributedlock.provider;

/**
 * Deadline of a session of the store, which ends all grants of the session together,
 * whatever their leases. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface SessionDeadline {

	/**
	 * Returns the end until which the store is expected to keep the grants. It moves
	 * forward while the store confirms the session.
	 * @return an instant by {@link System#nanoTime()}, margins deducted
	 */
	long until();

	/**
	 * Registers a signal for the case that the end is brought forward.
	 * @param signal what to run then, or at once if that has happened; quick, without
	 * I/O. The same signal is kept once, however often it is registered
	 */
	void onShortened(Runnable signal);

}
