package io.distributedlock.benchmarks.contender;

/**
 * What a library can do with a lock.
 */
public enum Ability {

	/** Acquire a lock that is free, at a cost that says something. */
	ATTEMPTS,

	/** Wait until a holder releases. */
	WAITS,

	/** Let the thread that holds a lock acquire it again. */
	REENTERS,

	/** Renew a lock while it is held. */
	RENEWS,

	/** Let readers hold a lock together, and a writer alone. */
	SHARES

}
