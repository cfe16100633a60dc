package io.distributedlock.benchmarks.contender;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;

/**
 * The least that a lock in ZooKeeper needs: an ephemeral node that is created and deleted
 * through the native client.
 */
final class RawZooKeeper implements Contender {

	static final String PARENT = "/raw";

	private final CuratorFramework client;

	private final ZooKeeper zooKeeper;

	RawZooKeeper(Endpoint server) {
		this.client = CuratorClients.open(server);
		try {
			this.zooKeeper = this.client.getZookeeperClient().getZooKeeper();
			this.client.createContainers(PARENT);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws Exception {
		String path = PARENT + "/" + key;
		try {
			this.zooKeeper.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
		}
		catch (KeeperException.NodeExistsException ex) {
			return null;
		}
		return () -> this.zooKeeper.delete(path, -1);
	}

	@Override
	public void close() {
		this.client.close();
	}

}
