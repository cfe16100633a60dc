package io.distributedlock.sample.control;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Profile;
import org.springframework.core.io.ClassPathResource;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * Redis server of this process, on the loopback interface, which keeps only locks, and
 * those in memory. The server ends and its files are deleted with the process, even if
 * that is killed. The password is new with each start.
 */
@Component
@ConditionalOnUnset({ "spring.data.redis.url", "spring.data.redis.host", "spring.data.redis.sentinel.master",
		"spring.data.redis.cluster.nodes", "spring.data.redis.cluster.nodes[0]" })
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedRedisServer.PROFILE)
class EmbeddedRedisServer implements DataRedisConnectionDetails, LockServer, AutoCloseable {

	static final String PROFILE = "redis";

	private static final String LOOPBACK = "127.0.0.1";

	private static final String BINARY = "redis-server";

	private static final String CONFIGURATION = "redis.conf";

	private static final String LOG = "log";

	private static final Duration START_TIMEOUT = Duration.ofSeconds(10);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(10);

	/**
	 * The shell is the server's parent and so knows its process id. In a session of its
	 * own, where the system has {@code setsid}, the server gets no signal of Ctrl+C.
	 */
	private static final String START = """
			{ $(command -v setsid) "$1/%s" "$1/%s" > "$1/%s" 2>&1 & }""".formatted(BINARY, CONFIGURATION, LOG);

	private static final String STOP_AND_CLEAN_UP = "{ kill -KILL \"$!\"; wait; rm -rf -- \"$1\"; }";

	private final String password = UUID.randomUUID().toString();

	private final int port;

	private final ExitCommand exitCommand;

	EmbeddedRedisServer() throws IOException {
		// Other users of this machine cannot read this directory with the password.
		Path directory = Files.createTempDirectory("distributed-lock-sample");
		this.port = FreePort.choose();
		Files.writeString(directory.resolve(CONFIGURATION), """
				port %d
				bind %s
				requirepass %s
				maxmemory-policy noeviction
				save ""
				appendonly no
				dir "%s"
				""".formatted(this.port, LOOPBACK, this.password, directory));
		unpack(directory.resolve(BINARY));
		this.exitCommand = ExitCommand.register(START, STOP_AND_CLEAN_UP, directory);
		awaitServer(directory.resolve(LOG));
	}

	private static void unpack(Path file) throws IOException {
		String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
		String architecture = "aarch64".equals(System.getProperty("os.arch")) ? "arm64" : "amd64";
		ClassPathResource binary = new ClassPathResource(BINARY + "-7.0.15-" + system + "-" + architecture);
		try (InputStream content = binary.getInputStream()) {
			Files.copy(content, file);
		}
		if (!file.toFile().setExecutable(true)) {
			throw new IOException(file + " cannot be made executable");
		}
	}

	private void awaitServer(Path log) throws IOException {
		long start = System.nanoTime();
		while (!listens()) {
			if (System.nanoTime() - start > START_TIMEOUT.toNanos()) {
				String output = Files.readString(log);
				close();
				throw new IllegalStateException("The Redis server did not start: " + output);
			}
			LockSupport.parkNanos(POLL_INTERVAL.toNanos());
		}
	}

	@SuppressWarnings("AddressSelection") // no name is looked up
	private boolean listens() {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(LOOPBACK, this.port), (int) START_TIMEOUT.toMillis());
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	@Override
	public Standalone getStandalone() {
		return Standalone.of(LOOPBACK, this.port);
	}

	@Override
	public String getPassword() {
		return this.password;
	}

	@Override
	public Map<String, String> workerEnvironment() {
		return Map.of("SPRING_DATA_REDIS_HOST", LOOPBACK, "SPRING_DATA_REDIS_PORT", Integer.toString(this.port),
				"SPRING_DATA_REDIS_PASSWORD", this.password);
	}

	@Override
	public void close() {
		this.exitCommand.close();
	}

}
