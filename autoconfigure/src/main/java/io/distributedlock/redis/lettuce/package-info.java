/**
 * Sends scripts through the connections of Lettuce.
 */
@NullMarked
package io.distributedlock.redis.lettuce;

import org.jspecify.annotations.NullMarked;
