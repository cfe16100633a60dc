package io.distributedlock.zookeeper.session;

import java.io.IOException;

import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/**
 * Factory of the handles of a client that serves locks alone. If such a client is closed
 * while locks are held whose provider was closed before, the ensemble keeps its session,
 * and so these locks, until the session's time-out has passed.
 *
 * @since 0.1.0
 */
public final class LockZookeeperFactory implements ZookeeperFactory {

	/** Creates the factory, for one client or several. */
	public LockZookeeperFactory() {
	}

	@Override
	public ZooKeeper newZooKeeper(String connectString, int sessionTimeout, Watcher watcher, boolean canBeReadOnly)
			throws IOException {
		return newZooKeeper(connectString, sessionTimeout, watcher, canBeReadOnly, null);
	}

	@Override
	public ZooKeeper newZooKeeper(String connectString, int sessionTimeout, Watcher watcher, boolean canBeReadOnly,
			@Nullable ZKClientConfig config) throws IOException {
		return new LockZooKeeper(connectString, sessionTimeout, watcher, canBeReadOnly,
				(config != null) ? config : new ZKClientConfig());
	}

}
