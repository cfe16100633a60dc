package io.distributedlock.provider;

/**
 * The answer of the store to a release.
 *
 * @since 0.1.0
 */
public enum ReleaseOutcome {

	/**
	 * The grant was there and has been removed; the store may keep the key for a time.
	 */
	RELEASED,
	/** No such grant was there. */
	NOT_HELD,
	/**
	 * No such grant is there any more. It may have been there: a client that sends
	 * commands again by itself may have removed it before.
	 */
	GONE,
	/** It is not known whether the grant is there; the release has to be repeated. */
	UNKNOWN

}
