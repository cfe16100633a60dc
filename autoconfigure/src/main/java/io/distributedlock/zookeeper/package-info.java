/**
 * The provider that keeps locks in a ZooKeeper ensemble, over curator-framework.
 */
@NullMarked
package io.distributedlock.zookeeper;

import org.jspecify.annotations.NullMarked;
