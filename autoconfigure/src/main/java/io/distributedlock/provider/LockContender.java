package io.distributedlock.provider;

import java.time.Duration;

import io.distributedlock.LockProviderException;

/**
 * This process's place in the contest for one key. Lives while the process has waiters
 * for the key.
 *
 * @since 0.1.0
 */
public interface LockContender {

	/**
	 * Asks for the key in one round trip. If it is free, or already held by
	 * {@code owner}, it is granted; a repeated grant moves no expiry.
	 * @param owner the owner id to be granted
	 * @param lease how long the grant lasts unless renewed
	 * @param willWait whether this process is going to wait if the key is busy, and so is
	 * to stand in line for it
	 * @param timeout how long the call may take
	 * @return whether the key was granted
	 * @throws LockProviderException if the store could not answer; whether the key was
	 * granted is then unclear
	 */
	AttemptResult attempt(OwnerId owner, Duration lease, boolean willWait, Duration timeout);

	/**
	 * Takes back whatever stands in the store for this process's place in line, and
	 * passes on a reservation made for it. Called once no thread of this process waits
	 * for the key, repeated until it is confirmed.
	 * @param timeout how long the call may take
	 * @return {@link ReleaseOutcome#UNKNOWN} if it has to be repeated
	 */
	ReleaseOutcome withdraw(Duration timeout);

}
