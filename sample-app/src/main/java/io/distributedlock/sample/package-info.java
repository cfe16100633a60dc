/**
 * "Don't sell seat 13A twice": several processes sell the seats of one event, with and
 * without a distributed lock.
 */
@NullMarked
package io.distributedlock.sample;

import org.jspecify.annotations.NullMarked;
