package io.distributedlock.autoconfigure;

/**
 * Way in which the database keeps a lock for its holder.
 *
 * @since 0.1.0
 */
public enum JdbcStrategy {

	/** A lease in a row, which the holder renews; the holder keeps no connection. */
	LEASE,
	/**
	 * A lock on a row, which lasts as long as the holder's connection: free at once when
	 * the holder's process dies.
	 */
	ROW_LOCK

}
