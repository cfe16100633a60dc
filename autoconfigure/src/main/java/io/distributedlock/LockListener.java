package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A listener that is notified of events of locks, after they have happened. It runs on a
 * few threads of the library, in order for each lease. A listener that blocks or throws
 * neither delays nor breaks a lock. If more than 10,000 notifications wait for slow
 * listeners, further ones are dropped, but never a loss.
 *
 * @since 0.1.0
 */
public interface LockListener {

	/**
	 * Receives a lock that was acquired.
	 * @param lease the held lock
	 */
	default void onAcquired(LockLease lease) {
	}

	/**
	 * Receives the key of a lock that was busy for the whole wait time.
	 * @param key the key that was busy
	 * @param mode the mode of the request
	 * @param waited how long the request waited
	 * @param holder the holder, or {@code null} if not known
	 */
	default void onBusy(LockKey key, LockMode mode, Duration waited, @Nullable LockHolder holder) {
	}

	/**
	 * Receives a lock that was lost while its holder still worked.
	 * @param lease the lost lock
	 * @param reason the reason of the loss
	 */
	default void onLost(LockLease lease, LossReason reason) {
	}

	/**
	 * Receives a lock that its holder has released.
	 * @param lease the lock, no longer held
	 */
	default void onReleased(LockLease lease) {
	}

}
