package io.distributedlock.zookeeper.node;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.Deadline;
import io.distributedlock.zookeeper.session.ZNode;

/**
 * What the servers have answered to an attempt.
 *
 * @param czxid the {@code czxid} of the created lock node, or at most 0 if the lock is
 * busy
 * @param othersUntil until when a release takes it for granted that other processes wait,
 * or {@code null} if the lock node was not created from the wait queue
 * @param retryAfter when to attempt again without a signal if the lock is busy
 * @param present the lock node as it was last read, or {@code null} if it was missing or
 * not read
 */
public record AttemptAnswer(long czxid, @Nullable Deadline othersUntil, Duration retryAfter, @Nullable ZNode present) {

}
