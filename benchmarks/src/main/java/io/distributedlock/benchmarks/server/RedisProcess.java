package io.distributedlock.benchmarks.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisURI;

/**
 * A process of Redis.
 *
 * @param process the process
 * @param port where it listens
 */
record RedisProcess(Process process, int port) implements AutoCloseable {

	static RedisProcess start(Path directory, List<String> options) {
		int port = FreePort.choose();
		Path log = directory.resolve("redis.log");
		List<String> command = new ArrayList<>(List.of(binary(directory).toString(), "--port", Integer.toString(port),
				"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.toString()));
		command.addAll(options);
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(log.toFile())
				.start();
			RedisProcess started = new RedisProcess(process, port);
			try {
				Await.until("Redis", Duration.ofSeconds(30), started::listens);
			}
			catch (RuntimeException ex) {
				started.close();
				throw new IllegalStateException(Files.readString(log), ex);
			}
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean listens() {
		if (!this.process.isAlive()) {
			throw new IllegalStateException("Redis has ended");
		}
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static Path binary(Path directory) {
		String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
		String architecture = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
		String name = "redis-server-7.0.15-" + system + "-" + architecture;
		try (InputStream binary = RedisProcess.class.getClassLoader().getResourceAsStream(name)) {
			if (binary == null) {
				throw new IllegalStateException("There is no Redis for this machine: " + name);
			}
			Path file = directory.resolve("redis-server");
			Files.copy(binary, file);
			if (!file.toFile().setExecutable(true)) {
				throw new IllegalStateException("Cannot make " + file + " executable");
			}
			return file;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	RedisURI uri() {
		return RedisURI.create("127.0.0.1", this.port);
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		try {
			this.process.waitFor(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
