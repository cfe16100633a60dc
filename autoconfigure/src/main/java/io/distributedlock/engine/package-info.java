/**
 * The engine over any store: local queues, grants, renewal, and pending releases.
 */
@NullMarked
package io.distributedlock.engine;

import org.jspecify.annotations.NullMarked;
