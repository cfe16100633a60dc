package io.distributedlock.jdbc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Assumptions;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

import static org.awaitility.Awaitility.await;

/** PgBouncer in front of the PostgreSQL server of the tests. */
public final class PgBouncerServer implements AutoCloseable {

	private static final Path BINARY = Path.of("/usr/sbin/pgbouncer");

	private final Path directory;

	private final int port;

	private final Process process;

	private PgBouncerServer(Path directory, int port, Process process) {
		this.directory = directory;
		this.port = port;
		this.process = process;
	}

	/** Starts PgBouncer, or skips the test where it is not installed. */
	public static PgBouncerServer start(PGSimpleDataSource target, String poolMode) {
		Assumptions.assumeTrue(Files.isExecutable(BINARY), "PgBouncer is not installed: no pooler can be tested");
		try {
			// PgBouncer refuses to run as root.
			Path directory = Files.createTempDirectory("distributed-lock-pgbouncer",
					PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
			int port = FreePorts.next();
			Path users = Files.writeString(directory.resolve("users.txt"), "\"postgres\" \"\"\n");
			Path configuration = Files.writeString(directory.resolve("pgbouncer.ini"), """
					[databases]
					* = host=127.0.0.1 port=%d
					[pgbouncer]
					listen_addr = 127.0.0.1
					listen_port = %d
					unix_socket_dir =
					auth_type = trust
					auth_file = %s
					auth_user = postgres
					auth_query = SELECT rolname, '' FROM pg_roles WHERE rolname = $1
					pool_mode = %s
					default_pool_size = 20
					server_idle_timeout = 3
					max_client_conn = 500
					ignore_startup_parameters = extra_float_digits
					""".formatted(target.getPortNumbers()[0], port, users, poolMode));
			List<String> command = new ArrayList<>(List.of(BINARY.toString(), configuration.toString()));
			if ("root".equals(System.getProperty("user.name"))) {
				command.addAll(List.of("-u", "nobody"));
			}
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(directory.resolve("log").toFile())
				.start();
			PgBouncerServer server = new PgBouncerServer(directory, port, process);
			await().atMost(Duration.ofSeconds(30)).until(server::answers);
			return server;
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private boolean answers() {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Returns the same database through PgBouncer. */
	public PGSimpleDataSource through(PGSimpleDataSource target) {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setServerNames(new String[] { "127.0.0.1" });
		dataSource.setPortNumbers(new int[] { this.port });
		dataSource.setDatabaseName(target.getDatabaseName());
		dataSource.setUser("postgres");
		return dataSource;
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
