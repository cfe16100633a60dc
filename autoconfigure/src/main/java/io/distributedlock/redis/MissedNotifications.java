package io.distributedlock.redis;

/**
 * What a contender knows of notifications that did not come. Guarded by the contender's
 * monitor.
 */
final class MissedNotifications {

	/** After so many notifications that did not come, none are expected. */
	private static final int MOST = 2;

	/** How many notifications in a row did not come. */
	private int count;

	/** Whether the subscription has not been confirmed since the last of these. */
	private boolean unconfirmed;

	void recordMissed() {
		this.count++;
		this.unconfirmed = true;
	}

	void recordNotified() {
		this.count = 0;
	}

	void recordSubscribed() {
		this.unconfirmed = false;
	}

	/** Whether the next notification is expected to come. */
	boolean isNextExpected() {
		return this.count < MOST && (this.count == 0 || !this.unconfirmed);
	}

}
