package io.distributedlock.provider;

/**
 * The answer of the store to a renewal.
 *
 * @since 0.1.0
 */
public enum RenewalOutcome {

	/** The grant lasts the given time from now on. */
	RENEWED,
	/** The grant has ended: expired, released, or owned by another. */
	NOT_HELD,
	/** It is not known whether the grant was renewed; the renewal has to be repeated. */
	UNKNOWN

}
