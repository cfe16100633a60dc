/**
 * The queue of requests for a key in this process.
 */
@NullMarked
package io.distributedlock.engine.queue;

import org.jspecify.annotations.NullMarked;
