package io.distributedlock.zookeeper.node;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.zookeeper.session.LockNodeState;
import io.distributedlock.zookeeper.session.ZNode;

/**
 * What the servers have answered to an attempt.
 *
 * @param czxid the {@code czxid} of the created lock node, or at most 0 if the lock is
 * busy
 * @param state the state in which the lock node was created
 * @param retryAfter when to attempt again without a signal if the lock is busy
 * @param present the lock node as it was last read, or {@code null} if it was missing or
 * not read
 */
public record AttemptAnswer(long czxid, LockNodeState state, Duration retryAfter, @Nullable ZNode present) {

}
