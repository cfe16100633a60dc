package io.distributedlock.autoconfigure.zookeeper;

import org.apache.curator.framework.CuratorFrameworkFactory;

/**
 * Customizer of the Curator client that is built for the locks, called after the
 * properties were applied. Not called where the application has a
 * {@code CuratorFramework} of its own.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockCuratorCustomizer {

	/**
	 * Customizes the client to be built. With another {@code zookeeperFactory} the client
	 * ends its session when it is closed, and so the locks of methods that still run.
	 * @param builder the client's builder
	 */
	void customize(CuratorFrameworkFactory.Builder builder);

}
