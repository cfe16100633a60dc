package io.distributedlock;

/**
 * Why a lease ended before its holder gave it back.
 *
 * @since 0.1.0
 */
public enum LossReason {

	/** The lease ran out: it was not renewed in time, or was not to be renewed. */
	EXPIRED("the lease ran out"),
	/** The store answered that the lock is no longer held by this owner. */
	NOT_HELD("the store no longer knows this owner"),
	/** The longest hold that the request allows was reached. */
	MAX_HOLD("the longest hold was reached");

	private final String description;

	LossReason(String description) {
		this.description = description;
	}

	/**
	 * The reason in words.
	 * @return a clause for messages
	 */
	public String description() {
		return this.description;
	}

}
