package io.distributedlock.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;
import org.junit.jupiter.api.Assumptions;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.support.EncodedResource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ScriptUtils;
import org.springframework.util.FileSystemUtils;

import io.distributedlock.FreePorts;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.contains;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Databases of the tests, started once per JVM and stopped with it. Each test has a
 * database of its own.
 */
public final class TestDatabases {

	/** The system property that has the URL of a further database. */
	static final String GIVEN_URL = "distributed-lock.test.jdbc-url";

	private TestDatabases() {
	}

	/** Creates a H2 database in memory. */
	public static DataSource h2() {
		return h2("");
	}

	/** Creates a H2 database in memory with further settings in its URL. */
	public static DataSource h2(String settings) {
		return h2Url("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1" + settings);
	}

	/** Creates a database of an H2 server, reached over TCP. */
	public static DataSource h2Server() {
		return h2Url("jdbc:h2:tcp://localhost:" + H2Server.SERVER.getPort() + "/mem:" + UUID.randomUUID()
				+ ";DB_CLOSE_DELAY=-1");
	}

	/** Creates an HSQLDB database in memory. */
	public static DataSource hsqldb() {
		return new DriverManagerDataSource("jdbc:hsqldb:mem:" + UUID.randomUUID(), "sa", "");
	}

	/** Creates a Derby database in memory. */
	public static DataSource derby() {
		return new DriverManagerDataSource("jdbc:derby:memory:" + UUID.randomUUID() + ";create=true", "app", "");
	}

	/** Returns the database that the system properties of the test name. */
	static DataSource named() {
		String url = System.getProperty(GIVEN_URL);
		return new DriverManagerDataSource(url, user(url), password(url));
	}

	private static boolean isGiven(String url) {
		String given = System.getProperty(GIVEN_URL, "");
		return !given.isEmpty() && url.startsWith(given.split("[?;]", 2)[0]);
	}

	private static DataSource h2Url(String url) {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL(url);
		dataSource.setUser("sa");
		dataSource.setPassword("");
		return dataSource;
	}

	/** Creates a database of the PostgreSQL server. */
	public static PGSimpleDataSource postgres() {
		String name = "t" + UUID.randomUUID().toString().replace("-", "");
		execute(Postgres.SERVER.getPostgresDatabase(), "CREATE DATABASE " + name);
		return (PGSimpleDataSource) Postgres.SERVER.getDatabase("postgres", name);
	}

	/** Creates a database of the MariaDB server, through its own driver. */
	public static DataSource mariaDb() {
		return mariaDb("");
	}

	/** Creates a database of the MariaDB server with further settings in its URL. */
	public static DataSource mariaDb(String settings) {
		MariaDbDataSource dataSource = new MariaDbDataSource();
		try {
			dataSource.setUrl("jdbc:mariadb://" + MariaDbServer.database() + settings);
			dataSource.setUser(user("jdbc:mariadb:"));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return dataSource;
	}

	/** Creates a database of the MariaDB server, through MySQL's driver. */
	public static DataSource mariaDbWithMySqlDriver() {
		MysqlDataSource dataSource = new MysqlDataSource();
		dataSource.setURL("jdbc:mysql://" + MariaDbServer.database() + "?sslMode=DISABLED");
		dataSource.setUser(user("jdbc:mysql:"));
		return dataSource;
	}

	/** Creates a database of the MySQL server, through its own driver. */
	public static DataSource mySql() {
		Assumptions.assumeTrue(MySqlServer.isRunnable(), MySqlServer.NOT_RUNNABLE);
		MysqlDataSource dataSource = new MysqlDataSource();
		dataSource.setURL("jdbc:mysql://" + MySqlServer.database() + "?sslMode=DISABLED");
		dataSource.setUser(user("jdbc:mysql:"));
		return dataSource;
	}

	/** Creates a database of the MySQL server, through MariaDB's driver. */
	public static DataSource mySqlWithMariaDbDriver() {
		Assumptions.assumeTrue(MySqlServer.isRunnable(), MySqlServer.NOT_RUNNABLE);
		MariaDbDataSource dataSource = new MariaDbDataSource();
		try {
			dataSource.setUrl("jdbc:mariadb://" + MySqlServer.database());
			dataSource.setUser(user("jdbc:mariadb:"));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return dataSource;
	}

	/** Whether a URL is that of MySQL or MariaDB. */
	public static boolean isMySqlCompatible(String url) {
		return url.startsWith("jdbc:mariadb:") || url.startsWith("jdbc:mysql:");
	}

	/** Returns the SQL of the clock of a database in microseconds since 1970. */
	public static String clock(String url) {
		return isMySqlCompatible(url) ? "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
				: "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)";
	}

	/** Returns the user with all rights, who has no password. */
	static String user(String url) {
		if (isGiven(url)) {
			return System.getProperty("distributed-lock.test.jdbc-user", "");
		}
		if (isMySqlCompatible(url)) {
			return "root";
		}
		return url.startsWith("jdbc:postgresql:") ? "postgres" : url.startsWith("jdbc:derby:") ? "app" : "sa";
	}

	/** Returns the password of that user. */
	static String password(String url) {
		return isGiven(url) ? System.getProperty("distributed-lock.test.jdbc-password", "") : "";
	}

	/**
	 * Returns the URL without the user. MariaDB's driver adds the user to the URL, and
	 * then ignores the user that is passed with it.
	 */
	public static String url(DataSource database) {
		try (Connection connection = database.getConnection()) {
			return connection.getMetaData().getURL().replaceFirst("([?&])user=[^&]*&?", "$1").replaceFirst("[?&]$", "");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Creates a PostgreSQL database whose server calls its version so, which only servers
	 * do that cannot be run here.
	 */
	public static PGSimpleDataSource postgresAs(String version) {
		PGSimpleDataSource database = postgres();
		execute(database,
				"CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT '" + version + "' $$");
		database.setOptions("-c search_path=public,pg_catalog");
		return database;
	}

	/**
	 * Creates a connection to a server that cannot be run here.
	 * @param announced the version that the driver tells, perhaps that of a proxy
	 * @param version the version that the server tells
	 */
	public static Connection server(String product, String announced, String version) throws SQLException {
		Connection connection = mock(Connection.class);
		DatabaseMetaData database = mock(DatabaseMetaData.class);
		given(connection.getMetaData()).willReturn(database);
		given(database.getDatabaseProductName()).willReturn(product);
		given(database.getDatabaseProductVersion()).willReturn(announced);
		PreparedStatement statement = mock(PreparedStatement.class);
		ResultSet rows = mock(ResultSet.class);
		given(connection.prepareStatement(contains("CONCAT(VERSION()"))).willReturn(statement);
		given(statement.getResultSet()).willReturn(rows);
		given(rows.next()).willReturn(true, false);
		given(rows.getString(1)).willReturn(version);
		return connection;
	}

	/** Creates a role that has only the documented rights on the lock table. */
	static String grantLocks(DataSource owner, String url) {
		if (isGiven(url) || (!isMySqlCompatible(url) && !url.startsWith("jdbc:postgresql:"))) {
			return user(url);
		}
		String role = "r" + UUID.randomUUID().toString().replace("-", "").substring(0, 16);
		String name = isMySqlCompatible(url) ? role + "@localhost" : role;
		execute(owner, isMySqlCompatible(url) ? "CREATE USER " + name : "CREATE ROLE " + name + " LOGIN");
		execute(owner, "GRANT SELECT, INSERT, UPDATE, DELETE ON distributed_lock TO " + name);
		execute(owner, "GRANT SELECT, INSERT, UPDATE, DELETE ON distributed_lock_share TO " + name);
		try (Connection connection = DriverManager.getConnection(url, role, "");
				Statement statement = connection.createStatement()) {
			ResultSet user = statement.executeQuery("SELECT CURRENT_USER");
			user.next();
			assertThat(user.getString(1)).startsWith(role);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return role;
	}

	/** Executes a statement. */
	public static void execute(DataSource dataSource, String sql) {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Begins a transaction that locks only the rows that match. With MariaDB's default
	 * isolation it would lock all rows that it reads.
	 */
	public static void begin(Connection connection) throws SQLException {
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		connection.setAutoCommit(false);
	}

	/** Waits until a provider has opened its first connection. */
	public static void warmUp(LockProvider provider) {
		await().atMost(Duration.ofSeconds(30))
			.pollDelay(Duration.ZERO)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> {
				provider.check(Duration.ofSeconds(10));
				return true;
			});
	}

	/** Returns the dialect for the usual table. */
	static Dialect dialect(Connection connection) throws SQLException {
		return DatabaseKind.of(connection).dialect(JdbcLockSettings.DEFAULT_TABLE);
	}

	/** Creates the lock table. */
	public static <T extends DataSource> T withTable(T dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			String script = dialect(connection).schema();
			ScriptUtils.executeSqlScript(connection, new EncodedResource(new ByteArrayResource(script.getBytes())),
					isGiven(String.valueOf(connection.getMetaData().getURL())), false, "--", ";", "/*", "*/");
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
					.setPort(FreePorts.next())
					.setOverrideWorkingDirectory(directory.toFile())
					.setServerConfig("max_connections", "300")
					.setServerConfig("synchronous_commit", "on")
					.setPGStartupWait(Duration.ofMinutes(1))
					.setRegisterShutdownHook(false)
					.start();
				Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, directory), "stop-postgres"));
				return server;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private static void stop(EmbeddedPostgres server, Path directory) {
			try {
				server.close();
				FileSystemUtils.deleteRecursively(directory);
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
