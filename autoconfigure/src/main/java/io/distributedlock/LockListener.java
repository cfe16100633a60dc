package io.distributedlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Is told of what happens to locks, after it has happened. Runs on a few threads of the
 * library, in order for each lock; a listener that blocks or throws neither delays nor
 * breaks a lock. When more than 10,000 notifications wait for slow listeners, further
 * ones are dropped, losses never.
 *
 * @since 0.1.0
 */
public interface LockListener {

	/**
	 * A lock was acquired.
	 * @param lease the held lock
	 */
	default void onAcquired(LockLease lease) {
	}

	/**
	 * A lock stayed busy for the whole wait time.
	 * @param key the key that was busy
	 * @param waited how long was waited
	 * @param holder who held it, or {@code null} if not known
	 */
	default void onBusy(LockKey key, Duration waited, @Nullable LockHolder holder) {
	}

	/**
	 * A lock was lost while its holder still worked.
	 * @param lease the lost lock
	 * @param reason why
	 */
	default void onLost(LockLease lease, LossReason reason) {
	}

	/**
	 * A lock was given back by its holder.
	 * @param lease the lock, no longer held
	 */
	default void onReleased(LockLease lease) {
	}

}
