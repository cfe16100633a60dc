package io.distributedlock.sample.control;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.distributedlock.sample.SampleApplication;

/**
 * PostgreSQL server of this process, on the loopback interface, unpacked into a temporary
 * directory. The server ends and the directory is deleted with the process, even if that
 * is killed. The password is new with each start.
 */
@Component
@ConditionalOnUnset("spring.datasource.url")
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedPostgresDatabase.PROFILE)
class EmbeddedPostgresDatabase implements JdbcConnectionDetails, AutoCloseable {

	static final String PROFILE = "postgres";

	private static final String USERNAME = "postgres";

	private static final String DATA = "data";

	private static final String STOP_AND_CLEAN_UP = """
			{ pid=$(head -n 1 "$1/%s/postmaster.pid" 2> /dev/null) && kill -INT "$pid"
			while [ -n "$pid" ] && kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
			rm -rf -- "$1"; }
			""".formatted(DATA);

	private final String password = UUID.randomUUID().toString();

	private final ExitCommand exitCommand;

	private final EmbeddedPostgres server;

	EmbeddedPostgresDatabase() throws IOException {
		// Other users of this machine cannot read this directory.
		Path directory = Files.createTempDirectory("distributed-lock-sample");
		this.exitCommand = ExitCommand.register("true", STOP_AND_CLEAN_UP, directory);
		Path passwordFile = Files.writeString(directory.resolve("password"), this.password);
		this.server = EmbeddedPostgres.builder()
			.setPort(FreePort.choose())
			.setOverrideWorkingDirectory(directory.resolve("server").toFile())
			.setDataDirectory(directory.resolve(DATA))
			// Arguments of initdb: without them the server asks for no password.
			.setLocaleConfig("auth", "scram-sha-256")
			.setLocaleConfig("pwfile", passwordFile.toString())
			.setConnectConfig("password", this.password)
			.start();
	}

	@Override
	public String getJdbcUrl() {
		return "jdbc:postgresql://127.0.0.1:" + this.server.getPort() + "/postgres";
	}

	@Override
	public String getUsername() {
		return USERNAME;
	}

	@Override
	public String getPassword() {
		return this.password;
	}

	@Override
	public void close() throws IOException {
		this.server.close();
		this.exitCommand.close();
	}

}
