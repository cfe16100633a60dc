package io.distributedlock.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;
import io.distributedlock.chaos.ChaosStore;

/** A PostgreSQL server, which can start again with its data. */
public final class PostgresChaosStore extends DatabaseChaosStore {

	private final Server server;

	private PostgresChaosStore(Server server) {
		super(server.running.getPostgresDatabase(), PostgresFaults::new);
		this.server = server;
	}

	public static ChaosStore postgreSql() throws IOException {
		return new PostgresChaosStore(new Server());
	}

	@Override
	public boolean isRestartable() {
		return true;
	}

	@Override
	public void restart(int number) throws IOException {
		this.server.running.close();
		this.server.running = this.server.start();
	}

	@Override
	public void close() throws IOException {
		super.close();
		this.server.running.close();
		FileSystemUtils.deleteRecursively(this.server.directory);
	}

	private static final class Server {

		private final int port = FreePorts.next();

		private final Path directory = Files.createTempDirectory("distributed-lock-postgres");

		private EmbeddedPostgres running = start();

		private Server() throws IOException {
		}

		private EmbeddedPostgres start() throws IOException {
			return EmbeddedPostgres.builder()
				.setPort(this.port)
				.setOverrideWorkingDirectory(this.directory.resolve("binaries").toFile())
				.setDataDirectory(this.directory.resolve("data"))
				.setCleanDataDirectory(false)
				.setServerConfig("max_connections", "300")
				.setServerConfig("synchronous_commit", "on")
				.start();
		}

	}

}
