package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

import static org.awaitility.Awaitility.await;

/**
 * MySQL server of the tests, started on first use and stopped with the JVM. Its time zone
 * differs from UTC, so that statements must not depend on it.
 */
public final class MySqlServer {

	static final String NOT_RUNNABLE = "MySQL does not run on this machine: install libaio1 and libnuma1";

	private static final String ARCHIVE = "/mysql-Linux-amd64.tar.gz";

	private static volatile @Nullable Process server;

	private static final Path DIRECTORY = unpack();

	private static final boolean RUNNABLE = isRunnable(DIRECTORY);

	private MySqlServer() {
	}

	/**
	 * Whether the server runs on this machine, which needs the libraries {@code libaio1}
	 * and {@code libnuma1}.
	 */
	public static boolean isRunnable() {
		return RUNNABLE;
	}

	/**
	 * Creates a database and returns its address, such as {@code localhost:3306/name}.
	 */
	static String database() {
		String name = "t" + UUID.randomUUID().toString().replace("-", "");
		try (Connection connection = connect(Running.ADDRESS); Statement statement = connection.createStatement()) {
			statement.execute("CREATE DATABASE " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return Running.ADDRESS + name;
	}

	private static Connection connect(String address) throws SQLException {
		return DriverManager.getConnection("jdbc:mysql://" + address + "?sslMode=DISABLED", "root", "");
	}

	private static Path unpack() {
		try (InputStream archive = MySqlServer.class.getResourceAsStream(ARCHIVE)) {
			if (archive == null) {
				throw new IllegalStateException("Missing resource " + ARCHIVE);
			}
			Path directory = Files.createTempDirectory("distributed-lock-mysql");
			Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory), "delete-mysql"));
			Process tar = new ProcessBuilder("tar", "-xz", "-C", directory.toString()).start();
			try (var input = tar.getOutputStream()) {
				archive.transferTo(input);
			}
			if (tar.waitFor() != 0) {
				throw new IllegalStateException("The archive of MySQL cannot be unpacked");
			}
			return directory;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static boolean isRunnable(Path directory) {
		try {
			return mysqld(directory, "--version").start().waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
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

	private static String startServer() {
		int port = FreePorts.next();
		try {
			Process initialization = mysqld(DIRECTORY, "--initialize-insecure").start();
			if (initialization.waitFor() != 0) {
				throw new IllegalStateException(Files.readString(DIRECTORY.resolve("log")));
			}
			server = mysqld(DIRECTORY, "--port=" + port, "--bind-address=127.0.0.1", "--mysqlx=OFF",
					"--socket=" + DIRECTORY.resolve("socket"), "--pid-file=" + DIRECTORY.resolve("pid"),
					"--default-time-zone=+05:00", "--max-connections=300", "--skip-ssl",
					// No test needs durable data.
					"--sync-binlog=0", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync")
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		String address = "localhost:" + port + "/";
		await().atMost(Duration.ofSeconds(60)).ignoreExceptionsInstanceOf(SQLException.class).until(() -> {
			connect(address).close();
			return true;
		});
		return address;
	}

	private static void delete(Path directory) {
		try {
			Process running = server;
			if (running != null) {
				running.destroy();
				if (!running.waitFor(10, TimeUnit.SECONDS)) {
					running.destroyForcibly().waitFor();
				}
			}
			FileSystemUtils.deleteRecursively(directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** The address of the server, which is started with this class. */
	private static final class Running {

		private static final String ADDRESS = startServer();

	}

}
