package io.distributedlock.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * What one attempt asks of a row.
 *
 * @param key the text of the key column
 * @param owner the owner id to be granted
 * @param lease the lease in microseconds
 * @param holder the label of this process
 * @param process the id of this process
 * @param willWait whether to stand in line if the lock is busy
 * @param since when this process was first refused, in microseconds since 1970 by the
 * database's clock, or {@code null} if it was not yet
 */
record Claim(String key, String owner, long lease, String holder, String process, boolean willWait,
		@Nullable Long since) {

	/**
	 * For how long a place in line counts without being refreshed where the database is
	 * polled, in microseconds.
	 */
	static final long PLACE = 1_000_000;

	/**
	 * For how long a released lock is kept for who has the place where the database is
	 * polled, in microseconds: one poll bound.
	 */
	static final long GRACE = 250_000;

}
