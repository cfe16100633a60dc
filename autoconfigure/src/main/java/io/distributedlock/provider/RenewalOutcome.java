package io.distributedlock.provider;

/**
 * What the store said to a renewal.
 *
 * @since 0.1.0
 */
public enum RenewalOutcome {

	/** The grant lasts the given time from now on. */
	RENEWED,
	/** The grant has ended: expired, released, or another's. */
	NOT_HELD,
	/** The store could not tell; ask again soon. */
	UNKNOWN

}
