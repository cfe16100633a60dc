package io.distributedlock.provider;

/**
 * What the store said to a release.
 *
 * @since 0.1.0
 */
public enum ReleaseOutcome {

	/** The grant was there and is gone. */
	RELEASED,
	/** No such grant was there. */
	NOT_HELD,
	/** The store could not tell; ask again. */
	UNKNOWN

}
