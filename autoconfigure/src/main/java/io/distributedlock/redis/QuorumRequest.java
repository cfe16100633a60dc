package io.distributedlock.redis;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;

/**
 * What an attempt at a quorum asks for.
 *
 * @param key the key of the lock
 * @param keys its keys on each node
 * @param owner the owner id to be granted
 * @param lease how long the grant lasts unless renewed
 * @param deadline the end of the call
 */
record QuorumRequest(LockKey key, RedisLockKeys keys, OwnerId owner, Duration lease, Deadline deadline) {
}
