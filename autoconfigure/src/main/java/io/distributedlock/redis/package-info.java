/**
 * Locks kept in Redis, through Spring Data Redis with Lettuce or Jedis.
 */
@NullMarked
package io.distributedlock.redis;

import org.jspecify.annotations.NullMarked;
