package io.distributedlock.provider;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.LockListener;
import io.distributedlock.LossReason;

/**
 * Measures locks: called on the thread that does the work, so it must be quick and must
 * not block. Its exceptions are logged and otherwise ignored. For reactions that may take
 * their time use a {@link LockListener}.
 *
 * @since 0.1.0
 */
public interface LockObserver {

	/**
	 * A request for one key has ended.
	 * @param key the key
	 * @param outcome how it ended
	 * @param took how long it took, waiting included
	 */
	default void onAcquireEnd(LockKey key, AcquireOutcome outcome, Duration took) {
	}

	/**
	 * A lock began to be held.
	 * @param key the key
	 */
	default void onHoldStart(LockKey key) {
	}

	/**
	 * A lock is no longer held: released, or lost.
	 * @param key the key
	 */
	default void onHoldEnd(LockKey key) {
	}

	/**
	 * A renewal was answered, or was not.
	 * @param key the key
	 * @param outcome what the store said
	 */
	default void onRenewal(LockKey key, RenewalOutcome outcome) {
	}

	/**
	 * A lock was lost.
	 * @param key the key
	 * @param reason why
	 */
	default void onLost(LockKey key, LossReason reason) {
	}

	/** How a request for a lock ended. */
	enum AcquireOutcome {

		/** The lock is held. */
		ACQUIRED,
		/** Somebody else held it for the whole wait time. */
		BUSY,
		/** The store could not answer. */
		FAILED,
		/** The waiting thread was interrupted, or the future cancelled. */
		INTERRUPTED

	}

}
