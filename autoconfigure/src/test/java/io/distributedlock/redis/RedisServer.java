package io.distributedlock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import redis.clients.jedis.Jedis;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

import static org.awaitility.Awaitility.await;

/**
 * A Redis server for the tests: a process on a free port, without persistence, which ends
 * with the JVM at the latest.
 */
public final class RedisServer implements AutoCloseable {

	private final int port;

	private final List<String> command;

	private final Path directory;

	private Process process;

	/**
	 * Starts a server.
	 * @param options further options of the command line, such as
	 * {@code "--cluster-enabled", "yes"}
	 */
	public RedisServer(String... options) {
		this(Version.REDIS_7_0, options);
	}

	/** Starts a server of another version than most tests use. */
	public RedisServer(Version version, String... options) {
		this(version, List.of(), List.of(options));
	}

	private RedisServer(Version version, List<String> configuration, List<String> options) {
		this.port = FreePorts.next();
		this.command = new ArrayList<>(List.of(version.file().toString()));
		try {
			this.directory = Files.createTempDirectory("distributed-lock-redis");
			if (!configuration.isEmpty()) {
				this.command.add(Files.write(this.directory.resolve("sentinel.conf"), configuration).toString());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.command.addAll(List.of("--port", Integer.toString(this.port), "--bind", "127.0.0.1", "--dir",
				this.directory.toString()));
		this.command
			.addAll(configuration.isEmpty() ? List.of("--save", "", "--appendonly", "no") : List.of("--sentinel"));
		this.command.addAll(options);
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
		start();
	}

	/**
	 * Starts a replica, and waits until it acknowledges writes.
	 * @param primary the primary, which begins to replicate at once with the option
	 * {@code repl-diskless-sync-delay 0}
	 */
	static RedisServer replicaOf(RedisServer primary) {
		RedisServer replica = new RedisServer("--replicaof", "127.0.0.1 " + primary.port());
		try (Jedis admin = primary.admin()) {
			await().atMost(Duration.ofSeconds(60)).until(() -> {
				admin.set("replicated", "yes");
				return admin.waitReplicas(1, 1000) == 1;
			});
		}
		return replica;
	}

	/** Starts a sentinel that watches a primary, together with others. */
	static RedisServer sentinel(String name, int primary, Duration patience) {
		return new RedisServer(Version.REDIS_7_0,
				List.of("sentinel monitor " + name + " 127.0.0.1 " + primary + " 2",
						"sentinel down-after-milliseconds " + name + " " + patience.toMillis(),
						"sentinel failover-timeout " + name + " 3000"),
				List.of());
	}

	/** Starts again, empty and on the same port, after the server was killed. */
	public void start() {
		try {
			this.process = new ProcessBuilder(this.command).redirectErrorStream(true)
				.redirectOutput(this.directory.resolve("log").toFile())
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		await().pollInterval(Duration.ofMillis(5)).atMost(Duration.ofSeconds(60)).until(this::answers);
	}

	private boolean answers() {
		if (!this.process.isAlive()) {
			throw new IllegalStateException("The server ended at once; see " + this.directory.resolve("log"));
		}
		try (Socket socket = new Socket()) {
			socket.connect(address(), 1000);
			socket.setSoTimeout(1000);
			socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
			return socket.getInputStream().read() >= 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Kills the server at once; its data is lost. */
	public void kill() {
		this.process.destroyForcibly();
		try {
			this.process.waitFor(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	public int port() {
		return this.port;
	}

	/** Opens a client with all rights. */
	public Jedis admin() {
		return new Jedis("127.0.0.1", this.port, 10_000);
	}

	public InetSocketAddress address() {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port);
	}

	public ProcessHandle handle() {
		return this.process.toHandle();
	}

	@Override
	public void close() {
		kill();
		try {
			// With the file that a replica has received from its primary.
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			// The system removes temporary files that remain.
			return;
		}
	}

	/** A version whose binary a jar of the class path has. */
	enum Version {

		/** The oldest version that locks support. */
		REDIS_6_2 {

			@Override
			String binary(String platform) {
				return (platform.equals("linux-arm64") ? "6.2.7-" : "6.2.6-v5-") + platform;
			}

		},

		REDIS_7_0 {

			@Override
			String binary(String platform) {
				return "7.0.15-" + platform;
			}

		};

		private static final Map<Version, Path> UNPACKED = new ConcurrentHashMap<>();

		abstract String binary(String platform);

		/** The server's file, unpacked once per JVM. */
		private Path file() {
			return UNPACKED.computeIfAbsent(this, Version::unpack);
		}

		private static Path unpack(Version version) {
			String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
			String arch = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
			String name = "redis-server-" + version.binary(system + "-" + arch);
			try (InputStream binary = RedisServer.class.getClassLoader().getResourceAsStream(name)) {
				if (binary == null) {
					throw new IllegalStateException("There is no " + name);
				}
				Path file = Files.createTempFile("distributed-lock-", "-" + name);
				file.toFile().deleteOnExit();
				Files.write(file, binary.readAllBytes());
				if (!file.toFile().setExecutable(true)) {
					throw new IllegalStateException("Cannot make " + file + " executable");
				}
				return file;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
