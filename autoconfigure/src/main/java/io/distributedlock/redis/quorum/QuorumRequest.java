package io.distributedlock.redis.quorum;

import java.time.Duration;

import io.distributedlock.LockKey;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.script.RedisLockKeys;

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
