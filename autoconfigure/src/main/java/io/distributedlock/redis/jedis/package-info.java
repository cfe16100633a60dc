/**
 * Sends scripts through Jedis.
 */
@NullMarked
package io.distributedlock.redis.jedis;

import org.jspecify.annotations.NullMarked;
