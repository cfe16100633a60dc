/**
 * A worker process, which sells seats on command.
 */
@NullMarked
package io.distributedlock.sample.worker;

import org.jspecify.annotations.NullMarked;
