package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.redis.AttemptReply;
import io.distributedlock.redis.script.RedisLockKeys;

/**
 * What an attempt at a quorum asks for.
 *
 * @param key the key of the lock
 * @param keys its keys on each node
 * @param owner the owner id to be granted
 * @param lease how long the grant lasts unless renewed
 * @param deadline the end of the call
 * @param probablyBusy whether the lock was busy when this process asked last
 * @param onBusy makes the answer that the lock is busy, of the reply that shows the
 * holder if it has one, and of whether a release of the owner is pending
 */
record QuorumRequest(LockKey key, RedisLockKeys keys, OwnerId owner, Duration lease, Deadline deadline,
		boolean probablyBusy, BiFunction<@Nullable AttemptReply, Boolean, AttemptResult.Busy> onBusy) {
}
