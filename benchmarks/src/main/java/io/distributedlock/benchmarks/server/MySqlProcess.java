package io.distributedlock.benchmarks.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * MySQL server with its durable defaults, but for the log of changes for replicas, which
 * MariaDB does not write by default either.
 */
final class MySqlProcess {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final Process process;

	private final int port;

	private MySqlProcess(Process process, int port) {
		this.process = process;
		this.port = port;
	}

	static MySqlProcess start(Path directory) {
		try {
			unpack(directory);
			Process initialization = mysqld(directory, "--initialize-insecure").start();
			if (initialization.waitFor() != 0) {
				throw new IllegalStateException(
						"MySQL needs libaio1 and libnuma1: " + Files.readString(directory.resolve("log")));
			}
			int port = FreePort.choose();
			Process process = mysqld(directory, "--port=" + port, "--bind-address=127.0.0.1", "--mysqlx=OFF",
					"--socket=" + directory.resolve("socket"), "--pid-file=" + directory.resolve("pid"),
					"--max-connections=1500", "--skip-ssl", "--skip-log-bin")
				.start();
			MySqlProcess server = new MySqlProcess(process, port);
			server.awaitAnswer();
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static void unpack(Path directory) throws IOException, InterruptedException {
		Process tar = new ProcessBuilder("tar", "-xz", "-C", directory.toString()).start();
		try (InputStream archive = MySqlProcess.class.getResourceAsStream("/mysql-Linux-amd64.tar.gz");
				OutputStream input = tar.getOutputStream()) {
			if (archive == null) {
				throw new IllegalStateException("The archive of MySQL is missing");
			}
			archive.transferTo(input);
		}
		if (tar.waitFor() != 0) {
			throw new IllegalStateException("The archive of MySQL cannot be unpacked");
		}
	}

	private static ProcessBuilder mysqld(Path directory, String... options) {
		List<String> command = new ArrayList<>(List.of(directory.resolve("bin/mysqld").toString(), "--no-defaults",
				"--datadir=" + directory.resolve("data"), "--lc-messages-dir=" + directory.resolve("share")));
		if ("root".equals(System.getProperty("user.name"))) {
			command.add("--user=root");
		}
		command.addAll(List.of(options));
		return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile());
	}

	private void awaitAnswer() throws InterruptedException {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (true) {
			try (Socket socket = new Socket("localhost", this.port)) {
				return;
			}
			catch (IOException ex) {
				if (System.nanoTime() - end > 0) {
					throw new UncheckedIOException(ex);
				}
				Thread.sleep(50);
			}
		}
	}

	int port() {
		return this.port;
	}

	void stop() {
		this.process.destroy();
		this.process.onExit().join();
	}

}
