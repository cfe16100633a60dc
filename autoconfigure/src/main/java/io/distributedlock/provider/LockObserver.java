package io.distributedlock.provider;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.LockListener;
import io.distributedlock.LossReason;

/**
 * An observer that measures locks. It is called on the thread that does the work, so it
 * must be quick and must not block. Its exceptions are logged and otherwise ignored. Use
 * a {@link LockListener} for reactions that take time.
 *
 * @since 0.1.0
 */
public interface LockObserver {

	/**
	 * Observes the end of a request for one key.
	 * @param key the key
	 * @param outcome how it ended
	 * @param took how long it took, waiting included
	 */
	default void onAcquireEnd(LockKey key, AcquireOutcome outcome, Duration took) {
	}

	/**
	 * Observes that a request got the lock from another one of this process, without the
	 * store. The start of the hold follows; the end of the last hold may be observed
	 * after it, since another thread may tell it.
	 * @param key the key
	 */
	default void onHandOff(LockKey key) {
	}

	/**
	 * Observes the start of a hold.
	 * @param key the key
	 */
	default void onHoldStart(LockKey key) {
	}

	/**
	 * Observes the end of a hold: the lock was released or lost.
	 * @param key the key
	 */
	default void onHoldEnd(LockKey key) {
	}

	/**
	 * Observes a renewal.
	 * @param key the key
	 * @param outcome the answer of the store
	 */
	default void onRenewal(LockKey key, RenewalOutcome outcome) {
	}

	/**
	 * Observes a loss. The end of the hold follows.
	 * @param key the key
	 * @param reason why
	 */
	default void onLost(LockKey key, LossReason reason) {
	}

	/**
	 * Observes that a call of a locked method was skipped because its lock was busy. The
	 * end of the request was observed before.
	 * @param key the key that was busy
	 */
	default void onSkip(LockKey key) {
	}

	/**
	 * Observes that a call of a locked method runs without its lock, because its
	 * condition is false.
	 * @param name the name of the lock
	 */
	default void onUnlockedCall(String name) {
	}

	/**
	 * Returns the observer of the locks of one provider. An application may have several
	 * providers; each observer is asked for each of them, perhaps more than once.
	 * @param provider the name of the provider
	 * @return this observer, unless it distinguishes providers
	 */
	default LockObserver ofProvider(String provider) {
		return this;
	}

	/** How a request for a lock ended. */
	enum AcquireOutcome {

		/** The lock is held. */
		ACQUIRED,
		/** Another owner held the lock for the whole wait time. */
		BUSY,
		/** The store could not answer. */
		FAILED,
		/** The waiting thread was interrupted, or the future cancelled. */
		INTERRUPTED

	}

}
