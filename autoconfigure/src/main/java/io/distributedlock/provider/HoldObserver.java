package io.distributedlock.provider;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LossReason;
import io.distributedlock.ObserverScope;

/**
 * An observer of one hold, from {@link AcquireObserver#onHoldStart} to its release or
 * loss. The same rules apply as to {@link LockObserver}. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public interface HoldObserver {

	/**
	 * Observes the end of the hold, once. Called for each hold that has started. A scope
	 * of it may still be open on another thread.
	 * @param loss why the lock was lost, or {@code null} if it was released
	 */
	default void onEnd(@Nullable LossReason loss) {
	}

	/**
	 * Opens a scope around work under the lock, on the thread of that work.
	 * @return the scope, or {@code null} for none
	 */
	default @Nullable ObserverScope openScope() {
		return null;
	}

}
