/**
 * The scripts, their keys and replies, and the way to a server that any client offers.
 */
@NullMarked
package io.distributedlock.redis.script;

import org.jspecify.annotations.NullMarked;
