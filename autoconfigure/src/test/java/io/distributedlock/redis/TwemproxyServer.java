package io.distributedlock.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Assumptions;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

import static org.awaitility.Awaitility.await;

/** Twemproxy (nutcracker) in front of servers. */
final class TwemproxyServer implements AutoCloseable {

	private static final Path BINARY = Path.of("/usr/sbin/nutcracker");

	private final Path directory;

	private final Path configuration;

	private final int port = FreePorts.next();

	private final List<String> command;

	private volatile Process process;

	/**
	 * Starts the proxy, or skips the test where it is not installed.
	 * @param option lines of the configuration
	 */
	TwemproxyServer(List<RedisServer> servers, String option) {
		assumeInstalled();
		try {
			this.directory = Files.createTempDirectory("distributed-lock-twemproxy");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		this.configuration = this.directory.resolve("nutcracker.yml");
		this.command = List.of(BINARY.toString(), "-c", this.configuration.toString(), "-s",
				Integer.toString(FreePorts.next()));
		configure(servers, option);
		this.process = start();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> this.process.destroyForcibly()));
	}

	private void configure(List<RedisServer> servers, String option) {
		try {
			Files.writeString(this.configuration,
					"""
							locks:
							  listen: 127.0.0.1:%d
							  hash: murmur
							  distribution: ketama
							  redis: true
							  %s
							  servers:
							%s
							""".formatted(this.port, option,
							servers.stream()
								.map((server) -> "   - 127.0.0.1:" + server.port() + ":1")
								.collect(Collectors.joining("\n"))));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Process start() {
		try {
			Process started = new ProcessBuilder(this.command).redirectErrorStream(true)
				.redirectOutput(this.directory.resolve("log").toFile())
				.start();
			await().atMost(Duration.ofSeconds(30)).until(this::answers);
			return started;
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Kills the proxy, which ends all its connections, and starts it again. */
	void restart() {
		this.process.destroyForcibly();
		try {
			this.process.waitFor(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.process = start();
	}

	/** Restarts the proxy with another configuration. */
	void restart(List<RedisServer> servers, String option) {
		configure(servers, option);
		restart();
	}

	/** Skips the test where Twemproxy is not installed. */
	static void assumeInstalled() {
		Assumptions.assumeTrue(Files.isExecutable(BINARY), "Twemproxy is not installed: no proxy can be tested");
	}

	private boolean answers() {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	int port() {
		return this.port;
	}

	InetSocketAddress address() {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port);
	}

	@Override
	public void close() throws Exception {
		this.process.destroy();
		if (!this.process.waitFor(10, TimeUnit.SECONDS)) {
			this.process.destroyForcibly();
		}
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
