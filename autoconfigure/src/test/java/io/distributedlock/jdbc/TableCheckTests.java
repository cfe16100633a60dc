package io.distributedlock.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/** What is checked at start: columns, collation, rights, and a server that writes. */
@Tag("full")
class TableCheckTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Duration LEASE = Duration.ofMinutes(5);

	private final LockTimer timer = new LockTimer();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.timer.close();
	}

	static Stream<Arguments> databases() {
		Stream<Arguments> databases = Stream.of(
				database("H2", TestDatabases.h2(), "ALTER COLUMN holder SET DATA TYPE VARCHAR(64)",
						"ALTER COLUMN lock_key SET DATA TYPE VARCHAR_IGNORECASE(900)"),
				database("PostgreSQL", TestDatabases.postgres(), "ALTER COLUMN holder TYPE varchar(64)",
						"ALTER COLUMN lock_key TYPE varchar(900) COLLATE any_case"),
				mySql("MariaDB", TestDatabases.mariaDb()),
				mySql("MariaDB, MySQL's driver", TestDatabases.mariaDbWithMySqlDriver()));
		return MySqlServer.isRunnable()
				? Stream
					.concat(databases,
							Stream.of(mySql("MySQL", TestDatabases.mySql()),
									mySql("MySQL, MariaDB's driver", TestDatabases.mySqlWithMariaDbDriver())))
				: databases;
	}

	private static Arguments mySql(String name, DataSource database) {
		return database(name, database, "MODIFY holder VARCHAR(64)",
				"MODIFY lock_key VARCHAR(900) CHARACTER SET latin1 NOT NULL");
	}

	private static Arguments database(String name, DataSource database, String shorten, String collate) {
		return Arguments.of(Named.of(name, TestDatabases.withTable(database)), shorten, collate);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void tableOfTheScriptIsUsable(DataSource database) {
		assertThatNoException().isThrownBy(() -> check(database));
		assertThat(new JdbcTemplate(database).queryForObject("SELECT count(*) FROM distributed_lock", Integer.class))
			.isEqualTo(1);
	}

	static Stream<Arguments> servers() {
		return databases().skip(1);
	}

	/** Servers and their drivers log the statements that fail. */
	@ParameterizedTest
	@MethodSource("servers")
	void checkOfATableOfTheScriptFailsNoStatement(DataSource database) {
		List<Throwable> failures = new CopyOnWriteArrayList<>();
		check(recording(DataSource.class, database, failures));
		assertThat(failures).isEmpty();
	}

	/** Records the failures of an object and of what its methods return. */
	private static <T> T recording(Class<T> type, T target, List<Throwable> failures) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				try {
					Object result = method.invoke(target, arguments);
					return (result instanceof PreparedStatement statement)
							? recording(PreparedStatement.class, statement, failures)
							: (method.getReturnType() == Connection.class)
									? recording(Connection.class, (Connection) result, failures) : result;
				}
				catch (InvocationTargetException ex) {
					failures.add(ex.getCause());
					throw ex.getCause();
				}
			}));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void columnThatIsTooShortIsRefused(DataSource database, String shorten) {
		TestDatabases.execute(database, "ALTER TABLE distributed_lock " + shorten);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_UNSUITABLE))
			.withMessageContaining("holder (64, needs 255)")
			.withMessageContaining("CREATE TABLE");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void collationThatTakesKeysForTheSameIsRefused(DataSource database, String shorten, String collate) {
		if (collate.contains("any_case")) {
			TestDatabases.execute(database,
					"CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
		}
		TestDatabases.execute(database, "ALTER TABLE distributed_lock " + collate);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_UNSUITABLE))
			.withMessageContaining("collation");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void tableWithoutAPrimaryKeyIsRefused(DataSource database) {
		TestDatabases.execute(database, "ALTER TABLE distributed_lock DROP " + primaryKey(database));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_UNSUITABLE))
			.withMessageContaining("no primary key");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void primaryKeyOnMoreColumnsIsRefused(DataSource database) {
		TestDatabases.execute(database, "ALTER TABLE distributed_lock DROP " + primaryKey(database));
		TestDatabases.execute(database, "ALTER TABLE distributed_lock ADD PRIMARY KEY (lock_key, grant_order)");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.withMessageContaining("no primary key on lock_key");
		assertThat(new JdbcTemplate(database).queryForObject("SELECT count(*) FROM distributed_lock", Long.class))
			.isOne();
	}

	@ParameterizedTest
	@MethodSource("databases")
	void checkThatFoundNoDatabaseIsCompletedBeforeAnAttempt(DataSource database) {
		TestDatabases.execute(database, "ALTER TABLE distributed_lock DROP " + primaryKey(database));
		AtomicBoolean down = new AtomicBoolean(true);
		DataSource late = new DelegatingDataSource(database) {
			@Override
			public Connection getConnection() throws SQLException {
				if (down.get()) {
					throw new SQLNonTransientConnectionException("down", "08001");
				}
				return super.getConnection();
			}
		};
		try (JdbcLockProvider provider = provider(late);
				LockTemplate locks = new LockTemplate(provider, LockSettings.defaults().withCallTimeout(TIMEOUT),
						this.timer, List.of(), List.of())) {
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> provider.check(TIMEOUT));
			down.set(false);
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(LockKey.of("late"))))
				.withMessageContaining("no primary key on lock_key");
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void attemptWithoutAnyCheckIsRefused(DataSource database) {
		TestDatabases.execute(database, "ALTER TABLE distributed_lock DROP " + primaryKey(database));
		try (JdbcLockProvider provider = provider(database)) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> attempt(provider, "first"))
				.withMessageContaining("no primary key on lock_key");
		}
	}

	/** Every process checks the table with the same rows. */
	@ParameterizedTest
	@MethodSource("databases")
	void firstAttemptsOfSeveralProcessesCheckAtOnce(DataSource database) throws Exception {
		List<JdbcLockProvider> processes = Stream.generate(() -> provider(database)).limit(6).toList();
		try {
			List<Callable<AttemptResult>> attempts = new ArrayList<>();
			for (JdbcLockProvider process : processes) {
				for (int i = 0; i < 4; i++) {
					String key = "key" + attempts.size();
					attempts.add(() -> attempt(process, key));
				}
			}
			for (Future<AttemptResult> attempt : this.threads.invokeAll(attempts)) {
				assertThat(attempt.get()).isInstanceOf(Granted.class);
			}
		}
		finally {
			processes.forEach(JdbcLockProvider::close);
		}
	}

	/** Nothing has to be released after it. */
	@Test
	void attemptThatCannotBeCheckedWasNotSent() {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		DataSource readOnly = new DelegatingDataSource(database) {
			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				try (Statement statement = connection.createStatement()) {
					statement.execute("SET default_transaction_read_only = on");
				}
				return connection;
			}
		};
		try (JdbcLockProvider provider = provider(readOnly)) {
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(provider, "first"))
				.withMessageContaining("may only be read")
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
		}
	}

	private JdbcLockProvider provider(DataSource database) {
		return new JdbcLockProvider(LockDataSource.of(database, 2), JdbcLockSettings.defaults("app"), this.timer);
	}

	private static AttemptResult attempt(JdbcLockProvider provider, String key) {
		return resultOf(provider.newContender(LockKey.of(key), () -> {
		}).attempt(OwnerId.random(), LEASE, false, TIMEOUT));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void tableThatWasEmptiedIsChecked(DataSource database) {
		TestDatabases.execute(database, "DELETE FROM distributed_lock");
		assertThatNoException().isThrownBy(() -> check(database));
		TestDatabases.execute(database, "ALTER TABLE distributed_lock DROP " + primaryKey(database));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.withMessageContaining("no primary key on lock_key");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void earlierFormatIsRefusedWithItsRemedy(DataSource database) {
		TestDatabases.execute(database, "UPDATE distributed_lock SET grant_order = 1");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_UNSUITABLE))
			.withMessageContaining("has the format 1 of an earlier version, but this version needs 2")
			.withMessageContaining("drop the table")
			.withMessageContaining("CREATE TABLE");
	}

	/** Its processes may run while the table is replaced. */
	@ParameterizedTest
	@MethodSource("databases")
	void earlierVersionCannotInsertARow(DataSource database) {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> TestDatabases.execute(database, """
				INSERT INTO distributed_lock (lock_key, owner, grant_order, expires_at, acquired_at, holder)
				SELECT lock_key, owner, grant_order, expires_at, acquired_at, holder FROM distributed_lock"""))
			.satisfies((ex) -> assertThat(ex.getCause().getMessage()).containsIgnoringCase("first_waiter"));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void processThatRunsRefusesANewerFormat(DataSource database) {
		try (JdbcLockProvider provider = provider(database)) {
			assertThat(attempt(provider, "before")).isInstanceOf(Granted.class);
			TestDatabases.execute(database, "DELETE FROM distributed_lock WHERE holder IS NOT NULL");
			TestDatabases.execute(database, "ALTER TABLE distributed_lock ADD COLUMN limits INT DEFAULT 0 NOT NULL");
			TestDatabases.execute(database, "ALTER TABLE distributed_lock ALTER COLUMN limits DROP DEFAULT");
			TestDatabases.execute(database, "UPDATE distributed_lock SET grant_order = 3");
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(provider, "during"));
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> attempt(provider, "during"))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NEWER_FORMAT));
		}
	}

	private static String primaryKey(DataSource database) {
		return TestDatabases.url(database).startsWith("jdbc:postgresql") ? "CONSTRAINT distributed_lock_pkey"
				: "PRIMARY KEY";
	}

	@ParameterizedTest
	@MethodSource("databases")
	void timeOfAnotherTypeIsRefused(DataSource database) {
		String url = TestDatabases.url(database);
		String change = TestDatabases.isMySqlCompatible(url) ? "MODIFY acquired_at INT NOT NULL"
				: url.startsWith("jdbc:h2:") ? "ALTER COLUMN acquired_at SET DATA TYPE INT"
						: "ALTER COLUMN acquired_at TYPE int";
		TestDatabases.execute(database, "ALTER TABLE distributed_lock " + change);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(database))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_UNSUITABLE))
			.withMessageContaining("acquired_at (")
			.withMessageContaining("needs BIGINT");
	}

	/** MySQL's binary log is on by default. */
	@Test
	void logOfStatementsIsRefused() {
		String url = TestDatabases.url(TestDatabases.withTable(TestDatabases.mySql()));
		DataSource logging = new DriverManagerDataSource(
				url + (url.contains("?") ? "&" : "?") + "sessionVariables=binlog_format=STATEMENT",
				TestDatabases.user(url), "");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> check(logging))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE))
			.withMessageContaining("Set binlog_format=ROW");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void missingRightIsToldAtStart(DataSource database) {
		String url = TestDatabases.url(database);
		if (url.startsWith("jdbc:h2:")) {
			TestDatabases.execute(database, "CREATE USER reader PASSWORD ''");
			TestDatabases.execute(database, "GRANT SELECT, INSERT ON distributed_lock TO reader");
			assertDenied(url, "reader");
			return;
		}
		for (String right : new String[] { "INSERT", "UPDATE" }) {
			String role = TestDatabases.grantLocks(database, url);
			String name = TestDatabases.isMySqlCompatible(url) ? role + "@localhost" : role;
			TestDatabases.execute(database, "REVOKE " + right + " ON distributed_lock FROM " + name);
			assertDenied(url, role);
		}
	}

	private void assertDenied(String url, String user) {
		try (JdbcLockProvider provider = new JdbcLockProvider(LockDataSource.connect(url, user, "", null, 2, TIMEOUT),
				JdbcLockSettings.defaults("app"), this.timer)) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> provider.check(TIMEOUT))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
				.withMessageContaining("Grant");
		}
	}

	/** A replica can be promoted later, so this is no mistake of the configuration. */
	@Test
	void serverThatDoesNotWriteIsToldAtStart() {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		JdbcTemplate jdbc = new JdbcTemplate(database);
		String name = jdbc.queryForObject("SELECT current_database()", String.class);
		jdbc.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> check(database))
			.withMessageContaining("may only be read");
	}

	private void check(DataSource database) {
		try (JdbcLockProvider provider = new JdbcLockProvider(LockDataSource.of(database, 2),
				JdbcLockSettings.defaults("app"), this.timer)) {
			provider.check(TIMEOUT);
		}
	}

}
