package io.distributedlock;

/**
 * The reason why a lock was lost before its holder released it.
 *
 * @since 0.1.0
 */
public enum LossReason {

	/** The lease ran out: it was not renewed in time, or renewal was switched off. */
	EXPIRED("the lease ran out"),
	/** The store answered that this owner no longer holds the lock. */
	NOT_HELD("the store no longer knows this owner"),
	/**
	 * The session with the store has ended, or was not confirmed in time, whatever the
	 * lease.
	 */
	SESSION_ENDED("the session with the store has ended, or was not confirmed in time"),
	/** The longest hold that the request allows was reached. */
	MAX_HOLD("the longest hold was reached"),
	/** The lock was taken away on request. */
	FORCED("the lock was taken away on request");

	private final String description;

	LossReason(String description) {
		this.description = description;
	}

	/**
	 * Returns the reason in words.
	 * @return a clause for messages
	 */
	public String description() {
		return this.description;
	}

}
