package io.distributedlock.provider;

/**
 * A term that ends many grants together, whatever their leases, such as the session that
 * owns them. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface Term {

	/**
	 * Returns the end until which the store is expected to keep the grants. It moves
	 * forward while the store confirms the term.
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
