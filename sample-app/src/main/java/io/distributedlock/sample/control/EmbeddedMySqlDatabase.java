package io.distributedlock.sample.control;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Profile;
import org.springframework.core.io.ClassPathResource;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * MySQL server of this process, on the loopback interface, unpacked into a temporary
 * directory. The server ends and the directory is deleted with the process, even if that
 * is killed. The password is new with each start.
 */
@Component
@ConditionalOnUnset("spring.datasource.url")
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedMySqlDatabase.PROFILE)
class EmbeddedMySqlDatabase implements JdbcConnectionDetails, AutoCloseable {

	static final String PROFILE = "mysql";

	private static final String LOG = "log";

	private static final String ARCHIVE = "mysql-Linux-amd64.tar.gz";

	private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

	/**
	 * Nothing in the database is needed after the end, so the server need not write it.
	 */
	private static final String STOP_AND_CLEAN_UP = """
			{ pid=$(cat "$1/pid" 2> /dev/null) && kill -KILL "$pid"
			while [ -n "$pid" ] && kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
			rm -rf -- "$1"; }
			""";

	private final String password = UUID.randomUUID().toString();

	private final int port = FreePort.choose();

	private final ExitCommand exitCommand;

	EmbeddedMySqlDatabase() throws IOException {
		// Other users of this machine cannot read this directory.
		Path directory = Files.createTempDirectory("distributed-lock-sample");
		this.exitCommand = ExitCommand.register("true", STOP_AND_CLEAN_UP, directory);
		try {
			unpack(directory);
			Path firstStatements = Files.writeString(directory.resolve("first-statements.sql"), """
					ALTER USER 'root'@'localhost' IDENTIFIED BY '%s';
					CREATE DATABASE sample;
					""".formatted(this.password));
			run(mysqld(directory, "--initialize-insecure", "--init-file=" + firstStatements), directory);
			Process server = mysqld(directory, "--port=" + this.port, "--bind-address=127.0.0.1", "--mysqlx=OFF",
					"--socket=" + directory.resolve("socket"), "--skip-ssl")
				.start();
			Files.writeString(directory.resolve("pid"), Long.toString(server.pid()));
			awaitServer(server, directory);
		}
		catch (IOException | RuntimeException ex) {
			close();
			throw ex;
		}
	}

	private static void unpack(Path directory) throws IOException {
		Path archive = directory.resolve(ARCHIVE);
		try (InputStream content = new ClassPathResource(ARCHIVE).getInputStream()) {
			Files.copy(content, archive);
		}
		run(new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", directory.toString()), directory);
	}

	private static ProcessBuilder mysqld(Path directory, String... options) {
		List<String> command = new ArrayList<>();
		// In a session of its own the server gets no signal of Ctrl+C.
		command.addAll(List.of("setsid", directory.resolve("bin/mysqld").toString(), "--no-defaults",
				"--datadir=" + directory.resolve("data"), "--lc-messages-dir=" + directory.resolve("share")));
		if ("root".equals(System.getProperty("user.name"))) {
			command.add("--user=root");
		}
		command.addAll(List.of(options));
		return new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(Redirect.appendTo(directory.resolve(LOG).toFile()));
	}

	private static void run(ProcessBuilder builder, Path directory) throws IOException {
		try {
			if (builder.start().waitFor() != 0) {
				throw new IllegalStateException(failure(directory));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while MySQL was set up", ex);
		}
	}

	private void awaitServer(Process server, Path directory) throws IOException {
		WorkerPool.await(() -> answers() || !server.isAlive(), START_TIMEOUT);
		if (!answers()) {
			throw new IllegalStateException(failure(directory));
		}
	}

	private static String failure(Path directory) throws IOException {
		Path log = directory.resolve(LOG);
		String output = Files.exists(log) ? Files.readString(log) : "";
		return "MySQL does not start on this machine (Linux on x86-64 with libaio1 and libnuma1 is needed): " + output;
	}

	private boolean answers() {
		try {
			DriverManager.getConnection(getJdbcUrl(), getUsername(), getPassword()).close();
			return true;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	@Override
	public String getJdbcUrl() {
		return "jdbc:mysql://127.0.0.1:" + this.port + "/sample?sslMode=DISABLED&allowPublicKeyRetrieval=true";
	}

	@Override
	public String getUsername() {
		return "root";
	}

	@Override
	public String getPassword() {
		return this.password;
	}

	@Override
	public void close() {
		this.exitCommand.close();
	}

}
