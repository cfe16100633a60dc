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
 * Reads the locks' nodes: of those that are held, the one that came last.
 */
@Component
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedZooKeeperServer.PROFILE)
class CurrentHolderInZooKeeper implements CurrentHolder {

	private static final String DOORS = "/distributed-lock/doors";

	private static final String PROCESSES = "/distributed-lock/processes";

	/** The version of a door that waits for the next one in line. */
	private static final int RESERVED = 2;

	private final CuratorFramework client;

	CurrentHolderInZooKeeper(CuratorFramework client) {
		this.client = client;
	}

	@Override
	public Optional<LockHolder> find() {
		try {
			Stat last = null;
			for (String door : doors()) {
				Stat stat = this.client.checkExists().forPath(door);
				if (stat != null && stat.getVersion() < RESERVED
						&& (last == null || stat.getCzxid() > last.getCzxid())) {
					last = stat;
				}
			}
			if (last == null) {
				return Optional.empty();
			}
			byte[] label = this.client.getData().forPath(PROCESSES + "/" + Long.toHexString(last.getEphemeralOwner()));
			return Optional.of(LockHolder.of(new String(label, StandardCharsets.UTF_8), last.getCzxid()));
		}
		catch (NoNodeException ex) {
			return Optional.empty();
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper does not tell who holds the lock", ex);
		}
	}

	/** The doors of all parents, with one request. */
	private List<String> doors() throws Exception {
		List<String> parents = this.client.getChildren()
			.forPath(DOORS)
			.stream()
			.map((name) -> DOORS + "/" + name)
			.toList();
		List<OpResult> found = this.client.getZookeeperClient()
			.getZooKeeper()
			.multi(parents.stream().map(Op::getChildren).toList());
		List<String> doors = new ArrayList<>();
		for (int i = 0; i < found.size(); i++) {
			if (found.get(i) instanceof GetChildrenResult children) {
				for (String name : children.getChildren()) {
					doors.add(parents.get(i) + "/" + name);
				}
			}
		}
		return doors;
	}

}
