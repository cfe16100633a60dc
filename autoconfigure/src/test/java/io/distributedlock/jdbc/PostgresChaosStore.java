package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;

/** A PostgreSQL server, which can start again with its data. */
public final class PostgresChaosStore extends DatabaseChaosStore {

	private final Server server;

	public PostgresChaosStore() {
		this(new Server());
	}

	private PostgresChaosStore(Server server) {
		super(server.running.getPostgresDatabase(), PostgresFaults::new);
		this.server = server;
	}

	@Override
	public Optional<Runnable> restart() {
		return Optional.of(this.server::restart);
	}

	@Override
	public void close() {
		super.close();
		this.server.close();
	}

	private static final class Server {

		private final int port = FreePorts.next();

		private final Path directory;

		private EmbeddedPostgres running;

		private Server() {
			try {
				this.directory = Files.createTempDirectory("distributed-lock-postgres");
				this.running = start();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
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

		private void restart() {
			try {
				this.running.close();
				this.running = start();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private void close() {
			try {
				this.running.close();
				FileSystemUtils.deleteRecursively(this.directory);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
