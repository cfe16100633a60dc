/**
 * Locks as nodes: acquiring, the wait queue, reservations, and releases.
 */
@NullMarked
package io.distributedlock.zookeeper.node;

import org.jspecify.annotations.NullMarked;
