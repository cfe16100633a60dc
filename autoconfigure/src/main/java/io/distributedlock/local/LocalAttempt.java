package io.distributedlock.local;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;

/**
 * The arguments of one attempt at a {@link LocalStore}.
 *
 * @param key the key
 * @param owner the owner id to be granted
 * @param lease how long the grant lasts unless renewed
 * @param contender who attempts
 * @param label the name of its process, for people to read
 * @param number the number of the contender; later contenders have higher numbers
 * @param willWait whether the contender joins the wait queue if the key is busy
 * @param changed the signal that is run when the key is reserved for the contender
 */
record LocalAttempt(LockKey key, OwnerId owner, Duration lease, LocalContender contender, String label, long number,
		boolean willWait, Runnable changed) {
}
