package io.distributedlock.jdbc.dialect;

import org.jspecify.annotations.Nullable;

/**
 * Parameters of one attempt to acquire a row, or a share of it.
 *
 * @param key the text of the key column
 * @param owner the owner id to be granted
 * @param leaseMicros the lease in microseconds
 * @param holder the label of this process
 * @param process the id of this process, or of its contender for shares
 * @param willWait whether to enter the wait queue if the lock is busy
 * @param sinceMicros when this process was first refused, in microseconds since 1970 by
 * the database's clock, or {@code null} if it was not yet refused
 * @param limit the most shares that there may be with this one, 0 for no share
 */
public record RowAttempt(String key, String owner, long leaseMicros, String holder, String process, boolean willWait,
		@Nullable Long sinceMicros, int limit) {

	/** Begins the id of a contender for shares, and that of no process. */
	static final String SHARE = "s";

	/** Creates an attempt that is not one of a share. */
	public RowAttempt(String key, String owner, long leaseMicros, String holder, String process, boolean willWait,
			@Nullable Long sinceMicros) {
		this(key, owner, leaseMicros, holder, process, willWait, sinceMicros, 0);
	}

	/**
	 * Returns the id of a contender of a process, as long as that of the process.
	 * @param limit the limit of the shares that it wants, 0 for the exclusive contender
	 */
	public static String contender(String process, int limit) {
		String share = SHARE + "%08x".formatted(limit);
		return (limit == 0) ? process : share + process.substring(share.length());
	}

	public boolean isShare() {
		return this.limit > 0;
	}

	/**
	 * Returns the parameter of a statement for {@link #sinceMicros}: 0 if this process
	 * does not wait, and a time in the future if it waits from now on.
	 */
	long waitsSinceMicros() {
		return !this.willWait ? 0 : (this.sinceMicros != null) ? this.sinceMicros : Long.MAX_VALUE;
	}

}
