package io.distributedlock.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/**
 * Host provider of a client that reconnects without a pause. ZooKeeper's client pauses at
 * random for up to a second before each connection, and for another second where it has
 * one server only, which would slow each test down.
 */
final class ImpatientHosts implements HostProvider {

	private final List<InetSocketAddress> servers;

	private int next;

	private boolean wasConnected;

	private ImpatientHosts(List<InetSocketAddress> servers) {
		this.servers = servers;
		this.next = Math.floorMod(System.identityHashCode(this), servers.size());
	}

	/** Makes the clients of a {@code CuratorFramework}. */
	static ZookeeperFactory clients() {
		return new Clients();
	}

	@Override
	public int size() {
		return this.servers.size();
	}

	/**
	 * Returns the next server. The calling thread pauses afterwards if it was connected
	 * before; an interrupt ends that pause.
	 */
	@Override
	public InetSocketAddress next(long spinDelay) {
		if (this.wasConnected) {
			Thread.currentThread().interrupt();
		}
		this.next = (this.next + 1) % this.servers.size();
		return this.servers.get(this.next);
	}

	@Override
	public void onConnected() {
		this.wasConnected = true;
	}

	@Override
	public boolean updateServerList(Collection<InetSocketAddress> servers, InetSocketAddress current) {
		throw new UnsupportedOperationException();
	}

	private static final class Clients implements ZookeeperFactory {

		@Override
		public ZooKeeper newZooKeeper(String connect, int timeout, Watcher watcher, boolean readOnly)
				throws IOException {
			return newZooKeeper(connect, timeout, watcher, readOnly, null);
		}

		@Override
		public ZooKeeper newZooKeeper(String connect, int timeout, Watcher watcher, boolean readOnly,
				@Nullable ZKClientConfig config) throws IOException {
			List<InetSocketAddress> servers = Arrays.stream(connect.replaceFirst("/.*", "").split(","))
				.map((server) -> server.split(":"))
				.map((server) -> new InetSocketAddress(server[0], Integer.parseInt(server[1])))
				.toList();
			return new ZooKeeper(connect, timeout, watcher, readOnly, new ImpatientHosts(servers), config);
		}

	}

}
