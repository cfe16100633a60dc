package io.distributedlock.redis.quorum;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;

/**
 * The owner that a majority of a quorum may have granted a lock to.
 *
 * @param owner the id with which the lock's value begins
 * @param holder who that is, for people, if it is known
 */
record QuorumHolder(String owner, @Nullable LockHolder holder) {
}
