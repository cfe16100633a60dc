/**
 * The engine over any store: local queues, grants, renewal, and pending releases.
 */
@NullMarked
package io.distributedlock.support;

import org.jspecify.annotations.NullMarked;
