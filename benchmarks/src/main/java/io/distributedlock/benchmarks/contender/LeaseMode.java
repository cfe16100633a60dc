package io.distributedlock.benchmarks.contender;

/**
 * How long a lock lasts where the library leaves the choice. Others always renew.
 */
public enum LeaseMode {

	/** As long as it was acquired for. */
	FIXED,

	/** As long as it is held. */
	RENEWED

}
