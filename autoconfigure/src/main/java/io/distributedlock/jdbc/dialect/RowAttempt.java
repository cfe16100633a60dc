package io.distributedlock.jdbc.dialect;

import org.jspecify.annotations.Nullable;

/**
 * Parameters of one attempt to acquire a row.
 *
 * @param key the text of the key column
 * @param owner the owner id to be granted
 * @param leaseMicros the lease in microseconds
 * @param holder the label of this process
 * @param process the id of this process
 * @param willWait whether to enter the wait queue if the lock is busy
 * @param sinceMicros when this process was first refused, in microseconds since 1970 by
 * the database's clock, or {@code null} if it was not yet refused
 */
public record RowAttempt(String key, String owner, long leaseMicros, String holder, String process, boolean willWait,
		@Nullable Long sinceMicros) {

	/**
	 * Returns the parameter of a statement for {@link #sinceMicros}: 0 if this process
	 * does not wait, and a time in the future if it waits from now on.
	 */
	long waitsSinceMicros() {
		return !this.willWait ? 0 : (this.sinceMicros != null) ? this.sinceMicros : Long.MAX_VALUE;
	}

}
