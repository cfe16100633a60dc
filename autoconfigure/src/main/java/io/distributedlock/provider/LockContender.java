package io.distributedlock.provider;

import java.time.Duration;

/**
 * The contender of this process for one key. It exists while the process has waiters for
 * the key.
 *
 * @since 0.1.0
 */
public interface LockContender {

	/**
	 * Attempts to acquire the key in one round trip at most: a process that is known to
	 * be in the wait queue may be answered without one that the key is busy. A key that
	 * is free, or already held by {@code owner}, is granted; a repeated grant does not
	 * change its expiry.
	 * @param owner the owner id to be granted
	 * @param lease how long the grant lasts unless renewed
	 * @param willWait whether this process waits if the key is busy, and so joins the
	 * wait queue of the key. The call itself never waits for the key to become free: over
	 * a client that blocks, the thread is one of few for all requests without a thread
	 * @param timeout how long the call may take
	 * @return the call, with whether the key was granted. It fails with a
	 * {@link io.distributedlock.LockProviderException} if the store could not answer;
	 * whether the key was granted is then unclear
	 */
	StoreCall<AttemptResult> attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout);

	/**
	 * Attempts to acquire the key as {@link #attempt} does, on a thread that waits for
	 * the answer. A store whose client answers a blocked thread sooner may block it,
	 * within the time-out and until an interrupt; with {@code willWait} also while the
	 * key is busy.
	 * @param owner the owner id to be granted
	 * @param lease how long the grant lasts unless renewed
	 * @param willWait whether this process waits if the key is busy
	 * @param timeout how long the call may take
	 * @return the call
	 */
	default StoreCall<AttemptResult> attemptBlocking(OwnerId owner, Duration lease, boolean willWait,
			Duration timeout) {
		return attempt(owner, lease, willWait, timeout);
	}

	/**
	 * Withdraws this process's entry from the wait queue of the key, and reserves the key
	 * for the next process if it was reserved for this one. Called when no request of
	 * this process waits for the key any more, and repeated until it is confirmed.
	 * @param timeout how long the call may take
	 * @return the call, with {@link ReleaseOutcome#UNKNOWN}, and no failure, if it has to
	 * be repeated
	 */
	StoreCall<ReleaseOutcome> withdraw(Duration timeout);

	/**
	 * Ends the use of the contender, once and whether or not it was withdrawn: nothing of
	 * it stays in memory. Sends nothing to the store. An attempt that was given up may
	 * still be under way.
	 */
	default void close() {
	}

}
