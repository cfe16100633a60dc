package io.distributedlock.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.chaos.ChaosStore;

/** A ZooKeeper server, which keeps the locks of a dead process for its session. */
public final class ZooKeeperChaosStore implements ChaosStore {

	private static final Duration SESSION = Duration.ofSeconds(4);

	private final Path data;

	private volatile ZooKeeperServerProcess server;

	public ZooKeeperChaosStore() {
		try {
			this.data = Files.createTempDirectory("distributed-lock-zookeeper");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server = start(0);
	}

	private ZooKeeperServerProcess start(int port) {
		return ZooKeeperServerProcess.onData(this.data, port, Duration.ofMinutes(1));
	}

	@Override
	public InetSocketAddress address() {
		return this.server.address();
	}

	@Override
	public List<String> properties(int port) {
		return List.of("distributed-lock.provider=zookeeper",
				"distributed-lock.zookeeper.connect-string=127.0.0.1:" + port,
				"distributed-lock.zookeeper.session-timeout=" + SESSION.toMillis() + "ms");
	}

	@Override
	public ProcessHandle server() {
		return this.server.handle();
	}

	@Override
	public Optional<Runnable> restart() {
		return Optional.of(() -> {
			int port = this.server.port();
			this.server.kill();
			this.server = start(port);
		});
	}

	@Override
	public long killConnections() {
		long connections = this.server.statistic("zk_num_alive_connections");
		this.server.killConnections();
		// Without the one that has asked for the number.
		return connections - 1;
	}

	@Override
	public long heldEntries() {
		try (ZooKeeperFixture fixture = new ZooKeeperFixture("127.0.0.1:" + this.server.port(), SESSION,
				"/distributed-lock")) {
			return fixture.heldEntries();
		}
	}

	@Override
	public void probe() {
		this.server.statistic("zk_num_alive_connections");
	}

	@Override
	public Duration expiry(Duration lease) {
		return SESSION;
	}

	@Override
	public void close() {
		this.server.kill();
		try {
			FileSystemUtils.deleteRecursively(this.data);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
