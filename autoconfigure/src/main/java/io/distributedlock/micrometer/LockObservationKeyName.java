package io.distributedlock.micrometer;

import io.micrometer.common.docs.KeyName;

/**
 * The names of the key values of observations.
 *
 * @since 0.1.0
 */
public enum LockObservationKeyName implements KeyName {

	/** The name of the lock, or {@code (other)} beyond the first thousand: few values. */
	NAME("lock.name"),
	/** The name of the provider that keeps the lock: few values. */
	PROVIDER("lock.provider"),
	/** The mode of the request: {@code exclusive}, {@code shared} or {@code permit}. */
	MODE("lock.mode"),
	/**
	 * How it ended: {@code acquired}, {@code busy}, {@code failed} or
	 * {@code interrupted}; of a hold {@code released} or {@code lost}: few values.
	 */
	OUTCOME("outcome"),
	/** The key of the lock: any number of values, so for traces only. */
	KEY("lock.key"),
	/** The fencing token of the hold: any number of values, so for traces only. */
	TOKEN("lock.token");

	private final String text;

	LockObservationKeyName(String text) {
		this.text = text;
	}

	@Override
	public String asString() {
		return this.text;
	}

}
