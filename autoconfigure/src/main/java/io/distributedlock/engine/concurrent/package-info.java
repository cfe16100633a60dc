/**
 * Threads, callbacks, and calls that end in time.
 */
@NullMarked
package io.distributedlock.engine.concurrent;

import org.jspecify.annotations.NullMarked;
