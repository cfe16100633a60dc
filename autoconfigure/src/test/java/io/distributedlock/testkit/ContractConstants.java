package io.distributedlock.testkit;

import java.time.Duration;

import io.distributedlock.engine.grant.LockSettings;

/**
 * Constants of the contract. They are not fields of its parts, where each class that
 * extends the contract would inherit them.
 */
final class ContractConstants {

	/** Delay that the promises allow, with the allowance for a loaded machine. */
	static final Duration TOLERANCE = TimeBounds.withLoad(Duration.ofMillis(250));

	/** Limit for events without a promised time. */
	static final Duration PATIENCE = Duration.ofSeconds(10);

	/** Time-out of one round trip. */
	static final Duration CALL_TIMEOUT = LockSettings.defaults().callTimeout();

	/**
	 * Limit for the removal of all orphaned entries once the store answers again: half of
	 * the shortest lease that would remove them.
	 */
	static final Duration CLEANUP_LIMIT = LockSettings.defaults().lease().dividedBy(2);

	/** The shortest grace of any store. */
	static final Duration GRACE = Duration.ofMillis(100);

	/** The shortest time after which a store forgets a waiter that does not ask again. */
	static final Duration ENTRY_LIFE = Duration.ofSeconds(1);

	static final Duration LONG_LEASE = Duration.ofSeconds(60);

	static final Duration SHORT_WAIT = Duration.ofMillis(200);

	static final Duration LONG_WAIT = Duration.ofSeconds(50);

	static final Duration ONE_SECOND = Duration.ofSeconds(1);

	/** Twice the time for which a lock is handed off inside a process. */
	static final Duration LONGEST_TURN = Duration.ofMillis(40);

	/** Grants that other processes may get while one is queued. */
	static final int ALLOWED_OVERTAKES = 3;

	/** Calls that a frozen store fails before it continues. */
	static final int FAILED_CALLS = 20;

	private ContractConstants() {
	}

}
