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
 * A real PostgreSQL server of this process's own on the loopback interface, unpacked into
 * a temporary directory. Server and directory go when the process does, even if it is
 * killed. Its password is new with each start.
 */
@Component
@Profile("!" + SampleApplication.WORKER + " & " + EmbeddedPostgresDatabase.PROFILE)
class EmbeddedPostgresDatabase implements JdbcConnectionDetails, AutoCloseable {

	static final String PROFILE = "postgres";

	private static final String USERNAME = "postgres";

	private static final String STOP_AND_CLEAN_UP = """
			{ kill -INT "$2"; while kill -0 "$2"; do sleep 0.1; done; rm -rf -- "$1"; }
			""";

	private final String password = UUID.randomUUID().toString();

	private final EmbeddedPostgres server;

	private final LastWill will;

	EmbeddedPostgresDatabase() throws IOException {
		Path directory = Files.createTempDirectory("distributed-lock-sample");
		Path passwordFile = Files.writeString(directory.resolve("password"), this.password);
		this.server = EmbeddedPostgres.builder()
			.setOverrideWorkingDirectory(directory.toFile())
			// These reach initdb as they are; nobody else on this machine may come in.
			.setLocaleConfig("auth", "scram-sha-256")
			.setLocaleConfig("pwfile", passwordFile.toString())
			.setConnectConfig("password", this.password)
			.start();
		this.will = LastWill.write("true", STOP_AND_CLEAN_UP, directory, this.server.getProcess().pid());
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
		this.will.close();
	}

}
