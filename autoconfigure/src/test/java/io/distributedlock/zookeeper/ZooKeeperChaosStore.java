package io.distributedlock.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.chaos.ChaosStore;

/** ZooKeeper servers, which keep the locks of a dead process for its session. */
public final class ZooKeeperChaosStore implements ChaosStore {

	private static final Duration SESSION = Duration.ofSeconds(4);

	private final Path data = Files.createTempDirectory("distributed-lock-zookeeper");

	private final @Nullable ZooKeeperEnsemble ensemble;

	private volatile List<ZooKeeperServerProcess> servers;

	private ZooKeeperChaosStore(@Nullable ZooKeeperEnsemble ensemble) throws IOException {
		this.ensemble = ensemble;
		this.servers = (ensemble != null) ? ensemble.servers() : List.of(start(0));
	}

	public static ChaosStore standalone() throws IOException {
		return new ZooKeeperChaosStore(null);
	}

	public static ChaosStore ensemble() throws IOException {
		return new ZooKeeperChaosStore(ZooKeeperEnsemble.shared());
	}

	private ZooKeeperServerProcess start(int port) {
		return ZooKeeperServerProcess.onData(this.data, port, Duration.ofMinutes(1));
	}

	@Override
	public List<InetSocketAddress> addresses() {
		return this.servers.stream().map(ZooKeeperServerProcess::address).toList();
	}

	private String connectString(IntUnaryOperator ports) {
		return addresses().stream()
			.map((server) -> "127.0.0.1:" + ports.applyAsInt(server.getPort()))
			.collect(Collectors.joining(","));
	}

	@Override
	public List<String> properties(IntUnaryOperator ports) {
		return List.of("distributed-lock.provider=zookeeper",
				"distributed-lock.zookeeper.connect-string=" + connectString(ports),
				"distributed-lock.zookeeper.session-timeout=" + SESSION.toMillis() + "ms");
	}

	@Override
	public List<ProcessHandle> servers() {
		return this.servers.stream().map(ZooKeeperServerProcess::handle).toList();
	}

	@Override
	public void restart(int number) {
		ZooKeeperServerProcess server = this.servers.get(number);
		server.kill();
		if (this.ensemble != null) {
			this.ensemble.restart(server);
			this.ensemble.awaitAll();
		}
		else {
			this.servers = List.of(start(server.port()));
		}
	}

	@Override
	public long killConnections() {
		long connections = open();
		this.servers.forEach(ZooKeeperServerProcess::killConnections);
		// Without those that have asked for the number.
		return connections - this.servers.size();
	}

	private long open() {
		return this.servers.stream().mapToLong((server) -> server.statistic("zk_num_alive_connections")).sum();
	}

	@Override
	public long heldEntries() {
		try (ZooKeeperFixture fixture = new ZooKeeperFixture(connectString((port) -> port), SESSION,
				"/distributed-lock")) {
			return fixture.heldEntries();
		}
	}

	@Override
	public void probe() {
		open();
	}

	@Override
	public Duration expiry(Duration lease) {
		return SESSION;
	}

	@Override
	public void close() throws IOException {
		this.servers.forEach(ZooKeeperServerProcess::kill);
		FileSystemUtils.deleteRecursively(this.data);
	}

}
