package io.distributedlock.benchmarks.contender;

import java.time.Duration;
import java.util.Comparator;
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
 * The least that waiting in ZooKeeper needs: a queue of ephemeral sequential nodes, each
 * of which watches the one before it.
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
		String parent = RawZooKeeper.PARENT + "/" + key;
		String node = create(parent);
		long end = System.nanoTime() + wait.toNanos();
		for (String before = before(parent, node); before != null; before = before(parent, node)) {
			CountDownLatch changed = new CountDownLatch(1);
			if (this.zooKeeper.exists(before, (event) -> changed.countDown()) != null
					&& !changed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
				this.zooKeeper.delete(node, -1);
				return null;
			}
		}
		return () -> this.zooKeeper.delete(node, -1);
	}

	private String create(String parent) throws KeeperException, InterruptedException {
		try {
			return this.zooKeeper.create(parent + "/", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE,
					CreateMode.EPHEMERAL_SEQUENTIAL);
		}
		catch (KeeperException.NoNodeException ex) {
			try {
				this.zooKeeper.create(parent, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
			}
			catch (KeeperException.NodeExistsException present) {
				// Another one was quicker.
			}
			return create(parent);
		}
	}

	/** Returns the path of the node before one, or {@code null} for the first. */
	private @Nullable String before(String parent, String node) throws KeeperException, InterruptedException {
		return this.zooKeeper.getChildren(parent, false)
			.stream()
			.map((child) -> parent + "/" + child)
			.filter((child) -> child.compareTo(node) < 0)
			.max(Comparator.naturalOrder())
			.orElse(null);
	}

	@Override
	public void close() {
		this.client.close();
	}

}
