/**
 * A lock held by the majority of independent Redis servers (Redlock).
 */
@NullMarked
package io.distributedlock.redis.quorum;

import org.jspecify.annotations.NullMarked;
