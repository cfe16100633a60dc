package io.distributedlock.sample.control;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.data.Stat;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * Finder of the current holder in ZooKeeper: among the held lock nodes it takes the one
 * that was created last.
 */
@Component
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedZooKeeperServer.PROFILE)
class CurrentHolderInZooKeeper implements CurrentHolder {

	private static final String LOCKS = "/distributed-lock/locks";

	private static final String PROCESSES = "/distributed-lock/processes";

	/** The version of a lock node that is reserved for the head of its wait queue. */
	private static final int RESERVED = 2;

	private final CuratorFramework client;

	CurrentHolderInZooKeeper(CuratorFramework client) {
		this.client = client;
	}

	@Override
	public Optional<HoldingProcess> find() {
		try {
			Stat last = null;
			for (String lockNode : lockNodes()) {
				Stat stat = this.client.checkExists().forPath(lockNode);
				if (stat != null && stat.getVersion() < RESERVED
						&& (last == null || stat.getCzxid() > last.getCzxid())) {
					last = stat;
				}
			}
			if (last == null) {
				return Optional.empty();
			}
			byte[] label = this.client.getData().forPath(PROCESSES + "/" + Long.toHexString(last.getEphemeralOwner()));
			return Optional.of(HoldingProcess.of(new String(label, StandardCharsets.UTF_8), last.getCzxid()));
		}
		catch (NoNodeException ex) {
			return Optional.empty();
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper did not answer which process holds the lock", ex);
		}
	}

	/** Lists the lock nodes of all parents with one request. */
	private List<String> lockNodes() throws Exception {
		List<String> parents = this.client.getChildren()
			.forPath(LOCKS)
			.stream()
			.map((name) -> LOCKS + "/" + name)
			.toList();
		List<OpResult> found = this.client.getZookeeperClient()
			.getZooKeeper()
			.multi(parents.stream().map(Op::getChildren).toList());
		List<String> lockNodes = new ArrayList<>();
		for (int i = 0; i < found.size(); i++) {
			if (found.get(i) instanceof GetChildrenResult children) {
				for (String name : children.getChildren()) {
					lockNodes.add(parents.get(i) + "/" + name);
				}
			}
		}
		return lockNodes;
	}

}
