package io.distributedlock.provider;

import org.jspecify.annotations.Nullable;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;

/**
 * An observer of one request for one key, from {@link LockObserver#onAcquireStart} to its
 * end. The same rules apply as to {@link LockObserver}. Different threads may call it,
 * one after the other.
 *
 * @since 0.1.0
 */
public interface AcquireObserver {

	/**
	 * Observes the end of the request, once. Called for each request that has started.
	 * @param outcome how it ended
	 * @param failure why it failed or was interrupted, or {@code null} if that is not
	 * known, or it did not
	 */
	default void onEnd(AcquireOutcome outcome, @Nullable Throwable failure) {
	}

	/**
	 * Observes the start of the hold that the request has acquired, at most once. It
	 * follows the end of the request, except for a request that is withdrawn while its
	 * lock is granted: such a hold ends at once. The thread may be that of another
	 * request, which has handed the lock off.
	 * @param token the fencing token of the hold
	 * @return the observer of the hold, or {@code null} for none
	 */
	default @Nullable HoldObserver onHoldStart(FencingToken token) {
		return null;
	}

	/**
	 * Observes that the request, which is one for several keys, goes on with the next
	 * one, after this one was acquired. The thread may be another one.
	 * @param next the next key
	 * @return the observer of the request for that key, or {@code null} for none
	 */
	default @Nullable AcquireObserver onNextKey(LockKey next) {
		return null;
	}

}
