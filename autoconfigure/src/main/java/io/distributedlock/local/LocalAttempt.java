package io.distributedlock.local;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.OwnerId;

/**
 * What a process asks of a {@link LocalStore}.
 *
 * @param key the key
 * @param owner the owner id to be granted
 * @param lease how long the grant lasts unless renewed
 * @param process the id of the asking process
 * @param label the asking process, for people to read
 * @param contender the number of the asking contender; later ones have higher numbers
 * @param willWait whether the process stands in line if the key is busy
 * @param changed to be run when it is the process's turn
 */
record LocalAttempt(LockKey key, OwnerId owner, Duration lease, OwnerId process, String label, long contender,
		boolean willWait, Runnable changed) {
}
