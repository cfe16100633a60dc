package io.distributedlock.autoconfigure;

import org.apache.curator.framework.CuratorFrameworkFactory;

/**
 * Changes the Curator client that is built for the locks, after the properties were
 * applied. Not asked where the application brings a {@code CuratorFramework} of its own.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockCuratorCustomizer {

	/**
	 * Changes the client to be built.
	 * @param builder the client's builder
	 */
	void customize(CuratorFrameworkFactory.Builder builder);

}
