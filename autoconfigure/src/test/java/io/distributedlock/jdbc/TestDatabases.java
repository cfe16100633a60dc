package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * The databases of the tests, started once per JVM and stopped with it. Each test gets a
 * database of its own.
 */
public final class TestDatabases {

	private TestDatabases() {
	}

	/** A fresh H2 database in memory. */
	public static DataSource h2() {
		return h2("");
	}

	/** A fresh H2 database in memory with further settings in its URL. */
	public static DataSource h2(String settings) {
		return h2Url("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1" + settings);
	}

	/** A fresh database of an H2 server, reached over TCP. */
	public static DataSource h2Server() {
		return h2Url("jdbc:h2:tcp://localhost:" + H2Server.SERVER.getPort() + "/mem:" + UUID.randomUUID()
				+ ";DB_CLOSE_DELAY=-1");
	}

	private static DataSource h2Url(String url) {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL(url);
		dataSource.setUser("sa");
		dataSource.setPassword("");
		return dataSource;
	}

	/** A fresh database of the PostgreSQL server. */
	public static PGSimpleDataSource postgres() {
		String name = "t" + UUID.randomUUID().toString().replace("-", "");
		execute(Postgres.SERVER.getPostgresDatabase(), "CREATE DATABASE " + name);
		return (PGSimpleDataSource) Postgres.SERVER.getDatabase("postgres", name);
	}

	/** Runs a script. */
	public static void execute(DataSource dataSource, String sql) {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Creates the lock table. */
	public static <T extends DataSource> T withTable(T dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			String product = connection.getMetaData().getDatabaseProductName();
			String script = Sql.script("H2".equals(product) ? "h2" : "postgresql", JdbcLockSettings.DEFAULT_TABLE);
			ScriptUtils.executeSqlScript(connection, new ByteArrayResource(script.getBytes()));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return dataSource;
	}

	private static final class Postgres {

		private static final EmbeddedPostgres SERVER = start();

		private static EmbeddedPostgres start() {
			try {
				Path directory = Files.createTempDirectory("distributed-lock-postgres");
				EmbeddedPostgres server = EmbeddedPostgres.builder()
					.setOverrideWorkingDirectory(directory.toFile())
					.setServerConfig("max_connections", "300")
					.setServerConfig("synchronous_commit", "on")
					.start();
				return server;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	private static final class H2Server {

		private static final Server SERVER = start();

		private static Server start() {
			try {
				return Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-tcpDaemon").start();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
