/**
 * Finds out before the first attempt whether the servers can keep the promises of a lock.
 */
@NullMarked
package io.distributedlock.redis.check;

import org.jspecify.annotations.NullMarked;
