/**
 * Configures locks in Redis, one server or a quorum.
 */
@NullMarked
package io.distributedlock.autoconfigure.redis;

import org.jspecify.annotations.NullMarked;
