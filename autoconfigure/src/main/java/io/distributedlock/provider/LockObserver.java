package io.distributedlock.provider;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockListener;
import io.distributedlock.LockMode;
import io.distributedlock.LossReason;

/**
 * An observer that measures locks. It is called on the thread that does the work, so it
 * must be quick and must not block. Its exceptions are logged and otherwise ignored. Use
 * a {@link LockListener} for reactions that take time.
 * <p>
 * What has a beginning and an end has an observer of its own: {@link AcquireObserver} for
 * a request for one key, and {@link HoldObserver} for a hold.
 *
 * @since 0.1.0
 */
public interface LockObserver {

	/**
	 * Observes the start of a request for one key, on the thread that makes it.
	 * @param key the key; of several ones the first
	 * @return the observer of that request and of the hold that it may acquire, or
	 * {@code null} for none
	 */
	default @Nullable AcquireObserver onAcquireStart(LockKey key) {
		return null;
	}

	/**
	 * Observes the start of a request as {@link #onAcquireStart(LockKey)} does, which it
	 * calls unless overridden.
	 * @param key the key; of several ones the first
	 * @param mode the mode of the request
	 * @return as {@link #onAcquireStart(LockKey)}
	 */
	default @Nullable AcquireObserver onAcquireStart(LockKey key, LockMode mode) {
		return onAcquireStart(key);
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

}
