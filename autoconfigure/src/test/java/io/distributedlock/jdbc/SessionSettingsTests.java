package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.distributedlock.LockKey;
import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.DriverProperties;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Settings of the sessions of the locks' own pool. */
@Tag("full")
class SessionSettingsTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(6);

	private static final String H2 = "CALL LOCK_TIMEOUT()";

	private static final String POSTGRES = """
			SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')
			|| ' ' || current_setting('client_connection_check_interval')""";

	private static final String MARIADB = """
			SELECT CONCAT(@@max_statement_time, ' ', @@innodb_lock_wait_timeout, ' ', @@time_zone)""";

	private static final WrappingDriver DRIVER = new WrappingDriver();

	@BeforeAll
	static void registerDriver() throws SQLException {
		DriverManager.registerDriver(DRIVER);
	}

	@AfterAll
	static void deregisterDriver() throws SQLException {
		DriverManager.deregisterDriver(DRIVER);
	}

	private static String read(LockDataSource locks, String query) throws SQLException {
		try (ConnectionSource connections = locks.connections();
				Connection connection = connections.borrow(Deadline.after(Duration.ofSeconds(30)));
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(query)) {
			result.next();
			return result.getString(1);
		}
	}

	private static LockDataSource connect(String url, String user) {
		return LockDataSource.connect(url, user, "", null, 1, CALL_TIMEOUT);
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:h2:mem:{name}", "jdbc:h2:mem:postgresql-{name};MODE=PostgreSQL",
			"jdbc:h2:mem:{name};MODE=MariaDB", "jdbc:h2:mem:{name};MODE=MySQL", "jdbc:h2:mem:mariadb.mysql.{name}",
			"jdbc:wrapped:h2:mem:{name};MODE=PostgreSQL" })
	void h2HasItsTimeOutsInEveryMode(String url) throws SQLException {
		assertThat(read(connect(url.replace("{name}", UUID.randomUUID().toString()), "sa"), H2)).isEqualTo("3000");
	}

	static Stream<Arguments> servers() {
		String postgres = TestDatabases.url(TestDatabases.postgres());
		String mariaDb = TestDatabases.url(TestDatabases.mariaDb());
		String mySqlDriver = TestDatabases.url(TestDatabases.mariaDbWithMySqlDriver());
		return Stream.of(arguments(postgres, POSTGRES, "6s 3s 6s"), arguments(wrapped(postgres), POSTGRES, "6s 3s 6s"),
				arguments(mariaDb, MARIADB, "3.000000 3 +00:00"),
				arguments(wrapped(mariaDb), MARIADB, "3.000000 3 +00:00"),
				arguments(mySqlDriver, MARIADB, "3.000000 3 +00:00"),
				arguments(wrapped(mySqlDriver), MARIADB, "3.000000 3 +00:00"));
	}

	private static String wrapped(String url) {
		return url.replaceFirst("jdbc:", "jdbc:wrapped:");
	}

	@ParameterizedTest
	@MethodSource("servers")
	void serverHasTheSettingsOfItsDialect(String url, String query, String expected) throws SQLException {
		assertThat(read(connect(url, TestDatabases.user(url.replace("wrapped:", ""))), query)).isEqualTo(expected);
	}

	/** Another pool than the locks' own, whose sessions are the application's. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void shareRestoresTheTimeOutsOfItsSession(boolean mySql) throws SQLException {
		DataSource database = TestDatabases.withTable(mySql ? TestDatabases.mySql() : TestDatabases.mariaDb());
		try (Connection connection = database.getConnection();
				LockTimer timer = new LockTimer();
				JdbcLockProvider provider = new JdbcLockProvider(
						LockDataSource.of(new SingleConnectionDataSource(connection, true), 1),
						JdbcLockSettings.defaults("application"), timer)) {
			JdbcTemplate session = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
			session.execute("SET wait_timeout = 777" + (mySql ? "" : ", idle_write_transaction_timeout = 55"));
			for (int number = 0; number < 2; number++) {
				OwnerId owner = OwnerId.random().ofShare(true);
				LockKey key = LockKey.of("shared");
				resultOf(provider.newShareContender(key, 5, () -> {
				}).attempt(owner, CALL_TIMEOUT, false, CALL_TIMEOUT));
				resultOf(provider.release(key, owner, Duration.ZERO, CALL_TIMEOUT));
			}
			assertThat(session.queryForObject("SELECT @@wait_timeout", Integer.class)).isEqualTo(777);
			if (!mySql) {
				assertThat(session
					.queryForMap(
							"SELECT @@idle_write_transaction_timeout AS 'write', @@idle_transaction_timeout AS 'any'")
					.values()).asString().isEqualTo("[55, 0]");
			}
		}
	}

	@Test
	void dataSourceThatSaysNothingOfItselfIsAskedForItsDialect() throws SQLException {
		HikariConfig config = new HikariConfig();
		config.setDataSource(new DelegatingDataSource(TestDatabases.postgres()));
		try (HikariDataSource application = new HikariDataSource(config)) {
			assertThat(read(LockDataSource.derive(application, 1, CALL_TIMEOUT), POSTGRES)).isEqualTo("6s 3s 6s");
		}
	}

	@Test
	void dataSourceOfTheApplicationKeepsItsLoginTimeOut() throws SQLException {
		int found = DriverManager.getLoginTimeout();
		PGSimpleDataSource database = TestDatabases.postgres();
		HikariConfig config = new HikariConfig();
		config.setDataSource(database);
		try (HikariDataSource application = new HikariDataSource(config)) {
			int own = database.getLoginTimeout();
			read(LockDataSource.derive(application, 1, CALL_TIMEOUT), POSTGRES);
			assertThat(database.getLoginTimeout()).isEqualTo(own);
		}
		read(connect(TestDatabases.url(database), "postgres"), POSTGRES);
		assertThat(DriverManager.getLoginTimeout()).isEqualTo(found);
	}

	@ParameterizedTest
	@ValueSource(strings = { "url", "class" })
	void settingsFollowTheInitialSqlOfTheApplication(String kind) throws SQLException {
		PGSimpleDataSource database = TestDatabases.postgres();
		TestDatabases.execute(database, "CREATE SCHEMA shop");
		TestDatabases.execute(database, "CREATE TABLE shop.opened (n int)");
		try (HikariDataSource application = new HikariDataSource()) {
			if (kind.equals("url")) {
				application.setJdbcUrl(TestDatabases.url(database));
				application.setUsername("postgres");
			}
			else {
				application.setDataSourceClassName(PGSimpleDataSource.class.getName());
				application.addDataSourceProperty("url", TestDatabases.url(database));
				application.addDataSourceProperty("user", "postgres");
			}
			application.setSchema("shop");
			application.setConnectionInitSql(
					"SET application_name = 'shop'; INSERT INTO opened VALUES (1); SET statement_timeout = 0;");
			LockDataSource locks = LockDataSource.derive(application, 1, CALL_TIMEOUT);
			assertThat(read(locks,
					"SELECT current_setting('application_name') || ' ' || current_schema || ' ' || (" + POSTGRES + ")"))
				.isEqualTo("shop shop 6s 3s 6s");
		}
	}

	@Test
	void initialSqlOfMariaDbIsOneStatementOfItsOwn() throws SQLException {
		String url = TestDatabases.url(TestDatabases.mariaDb());
		try (HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl(url);
			application.setUsername(TestDatabases.user(url));
			application.setConnectionInitSql("SET @shop = 'open', max_statement_time = 0");
			LockDataSource locks = LockDataSource.derive(application, 1, CALL_TIMEOUT);
			assertThat(read(locks, "SELECT CONCAT(@shop, ' ', @@max_statement_time)")).isEqualTo("open 3.000000");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:h2:tcp://db/x", "jdbc:p6spy:h2:ssl://db/x" })
	void readsFromARemoteH2AreBounded(String url) {
		assertThat(DriverProperties.of(url, CALL_TIMEOUT)).containsExactly(Map.entry("NETWORK_TIMEOUT", "6000"));
		assertThat(DriverProperties.of(url + ";network_timeout=5", CALL_TIMEOUT)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:mariadb://db/h2", "jdbc:mysql:loadbalance://a,b/x", "jdbc:mysql+srv://db/x",
			"jdbc:tc:mysql:8.4:///x", "jdbc:aws-wrapper:mysql://db/postgresql?user=h2" })
	void connectsOfMySqlProtocolsAreBounded(String url) {
		assertThat(DriverProperties.of(url, CALL_TIMEOUT)).containsEntry("connectTimeout", "1500")
			.containsEntry("useServerPrepStmts", "true");
		assertThat(DriverProperties.of(url + (url.contains("?") ? "&" : "?") + "connectTimeout=5", CALL_TIMEOUT))
			.doesNotContainKey("connectTimeout")
			.containsEntry("useServerPrepStmts", "true");
	}

	@Test
	void logInsOfPostgresAreBounded() {
		assertThat(DriverProperties.of("jdbc:postgresql:connecttimeout", Duration.ofMillis(1500)))
			.containsExactly(Map.entry("loginTimeout", "2"));
		assertThat(DriverProperties.of("jdbc:h2:mem:postgresql", CALL_TIMEOUT)).isEmpty();
		assertThat(DriverProperties.of("jdbc:oracle:thin:@db:1521/x", CALL_TIMEOUT)).isEmpty();
		assertThat(DriverProperties.of(null, CALL_TIMEOUT)).isEmpty();
	}

	/** Driver that leads to others, under URLs of its own. */
	private static final class WrappingDriver extends ImitatedDatabase {

		private static final String PREFIX = "jdbc:wrapped:";

		@Override
		public @Nullable Connection connect(String url, Properties info) throws SQLException {
			return acceptsURL(url) ? DriverManager.getConnection(real(url), info) : null;
		}

		private static String real(String url) {
			return "jdbc:" + url.substring(PREFIX.length());
		}

		@Override
		public boolean acceptsURL(String url) {
			return url.startsWith(PREFIX);
		}

	}

}
