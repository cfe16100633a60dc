package io.distributedlock.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
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

	/** Makes the handles of {@code CuratorFramework}s. */
	static Handles handles() {
		return new Handles();
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

	/**
	 * The handles of some clients. Curator may replace a handle whose session has ended
	 * at the moment at which its client is closed, and never closes the new one.
	 */
	static final class Handles implements ZookeeperFactory, AutoCloseable {

		private final List<ZooKeeper> open = new ArrayList<>();

		private boolean closed;

		@Override
		public ZooKeeper newZooKeeper(String connect, int timeout, Watcher watcher, boolean readOnly)
				throws IOException {
			return newZooKeeper(connect, timeout, watcher, readOnly, null);
		}

		@Override
		public synchronized ZooKeeper newZooKeeper(String connect, int timeout, Watcher watcher, boolean readOnly,
				@Nullable ZKClientConfig config) throws IOException {
			if (this.closed) {
				throw new IOException("The client was closed");
			}
			this.open.removeIf((handle) -> !handle.getState().isAlive());
			List<InetSocketAddress> servers = Arrays.stream(connect.replaceFirst("/.*", "").split(","))
				.map((server) -> server.split(":"))
				.map((server) -> new InetSocketAddress(server[0], Integer.parseInt(server[1])))
				.toList();
			ZooKeeper handle = new ZooKeeper(connect, timeout, watcher, readOnly, new ImpatientHosts(servers), config);
			this.open.add(handle);
			return handle;
		}

		/** Closes what the clients, which were closed before, have left open. */
		@Override
		public synchronized void close() {
			this.closed = true;
			try {
				for (ZooKeeper handle : this.open) {
					handle.close(0);
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
