/**
 * Configures locks in ZooKeeper.
 */
@NullMarked
package io.distributedlock.autoconfigure.zookeeper;

import org.jspecify.annotations.NullMarked;
