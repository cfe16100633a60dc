package io.distributedlock.provider;

/**
 * A time that ends many grants together, whatever their leases, such as that of the
 * session in which they stand. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface Term {

	/**
	 * Until when the store is relied upon to keep the grants. Moves on while the store
	 * confirms it.
	 * @return an instant as {@link System#nanoTime()} counts, margins deducted
	 */
	long until();

	/**
	 * Asks to be told when the end is brought forward.
	 * @param signal to be run then, or at once if that has happened; it only signals. The
	 * same one is kept once, however often it is given
	 */
	void onShortened(Runnable signal);

}
