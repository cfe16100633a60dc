package io.distributedlock.interceptor;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;

/**
 * An observer of calls of locked methods that {@link io.distributedlock.LockOperations}
 * do not see as such. It must be quick and must not throw.
 *
 * @since 0.1.0
 */
public interface LockedCallObserver {

	/**
	 * Observes that a call was skipped because its lock was busy.
	 * @param key the key that was busy
	 * @param provider the provider that the method names, or {@code null} for the primary
	 * one
	 */
	default void onSkip(LockKey key, @Nullable String provider) {
	}

	/**
	 * Observes that a call runs without its lock because its condition is false.
	 * @param name the name of the lock
	 * @param provider the provider that the method names, or {@code null} for the primary
	 * one
	 */
	default void onUnlockedCall(String name, @Nullable String provider) {
	}

}
