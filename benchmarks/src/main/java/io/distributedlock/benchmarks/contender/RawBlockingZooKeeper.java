package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;

/**
 * The least that waiting in ZooKeeper needs: an ephemeral node, and a watch on it for
 * whoever comes too late. All that wait are woken at once, and nobody's turn is kept.
 */
final class RawBlockingZooKeeper implements Contender {

	private final CuratorFramework client;

	private final ZooKeeper zooKeeper;

	RawBlockingZooKeeper(Endpoint server) {
		this.client = CuratorClients.open(server);
		try {
			this.zooKeeper = this.client.getZookeeperClient().getZooKeeper();
			this.client.createContainers(RawZooKeeper.PARENT);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public @Nullable HeldLock acquire(String key, Duration wait) throws Exception {
		String path = RawZooKeeper.PARENT + "/" + key;
		long end = System.nanoTime() + wait.toNanos();
		while (true) {
			try {
				this.zooKeeper.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
				return () -> this.zooKeeper.delete(path, -1);
			}
			catch (KeeperException.NodeExistsException ex) {
				CountDownLatch changed = new CountDownLatch(1);
				boolean exists = this.zooKeeper.exists(path, (event) -> changed.countDown()) != null;
				if (exists && !changed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
					return null;
				}
			}
		}
	}

	@Override
	public void close() {
		this.client.close();
	}

}
