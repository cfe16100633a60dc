package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Connections of the application's pools that break, or whose call is aborted. */
@Tag("full")
class BrokenConnectionTests {

	private static final int SIZE = 3;

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final LockKey KEY = LockKey.of("broken");

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>(List.of(this.timer));

	@AfterEach
	void close() throws Exception {
		for (int i = this.resources.size() - 1; i >= 0; i--) {
			this.resources.get(i).close();
		}
	}

	/** Pools that validate no connection when they lend it or get it back. */
	enum Pool {

		HIKARI {
			@Override
			DataSource of(String url) {
				HikariConfig config = new HikariConfig();
				config.setJdbcUrl(url);
				config.setUsername(TestDatabases.user(url));
				config.setMaximumPoolSize(SIZE);
				return new HikariDataSource(config);
			}
		},
		DBCP2 {
			@Override
			DataSource of(String url) {
				BasicDataSource pool = new BasicDataSource();
				pool.setUrl(url);
				pool.setUsername(TestDatabases.user(url));
				pool.setMaxTotal(SIZE);
				pool.setTestOnBorrow(false);
				return pool;
			}
		},
		TOMCAT {
			@Override
			DataSource of(String url) {
				org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
				pool.setUrl(url);
				pool.setUsername(TestDatabases.user(url));
				pool.setPassword("");
				pool.setInitialSize(0);
				pool.setMaxActive(SIZE);
				return pool;
			}
		};

		abstract DataSource of(String url);

	}

	/** Databases with a query of the sessions that run a statement, and their end. */
	enum Database {

		H2_SERVER("""
				SELECT session_id FROM information_schema.sessions
				WHERE session_id <> SESSION_ID() AND blocker_id IS NOT NULL""",
				"SELECT session_id FROM information_schema.sessions WHERE session_id <> SESSION_ID()",
				"CALL ABORT_SESSION(%d)") {
			@Override
			DataSource create() {
				return TestDatabases.h2Server();
			}
		},
		POSTGRES("""
				SELECT pid FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'""", """
				SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()""",
				"SELECT pg_terminate_backend(%d)") {
			@Override
			DataSource create() {
				return TestDatabases.postgres();
			}
		},
		MARIADB(MariaDb.WAITING, MariaDb.ALL, MariaDb.KILL) {
			@Override
			DataSource create() {
				return TestDatabases.mariaDb();
			}
		},
		MARIADB_WITH_MYSQL_DRIVER(MariaDb.WAITING, MariaDb.ALL, MariaDb.KILL) {
			@Override
			DataSource create() {
				return TestDatabases.mariaDbWithMySqlDriver();
			}
		};

		private final String waiting;

		private final String all;

		private final String kill;

		Database(String waiting, String all, String kill) {
			this.waiting = waiting;
			this.all = all;
			this.kill = kill;
		}

		abstract DataSource create();

		private static final class MariaDb {

			private static final String ALL = """
					SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()""";

			private static final String WAITING = ALL + " AND command IN ('Query', 'Execute')";

			private static final String KILL = "KILL CONNECTION %d";

		}

	}

	static Stream<Arguments> poolsOfDatabases() {
		return Stream.of(Pool.values())
			.flatMap((pool) -> Stream.of(Database.values()).map((database) -> Arguments.of(pool, database)));
	}

	/** Without H2, whose calls are abandoned instead of aborted. */
	static Stream<Arguments> poolsOfServersWithAborts() {
		return poolsOfDatabases().filter((arguments) -> arguments.get()[1] != Database.H2_SERVER);
	}

	private JdbcLockProvider provider(Pool kind, DataSource database) {
		DataSource pool = kind.of(TestDatabases.url(database));
		JdbcLockProvider provider = new JdbcLockProvider(LockDataSource.of(pool, SIZE),
				JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(() -> {
			if (pool instanceof AutoCloseable closeable) {
				closeable.close();
			}
			else {
				((org.apache.tomcat.jdbc.pool.DataSource) pool).close(true);
			}
		});
		this.resources.add(provider);
		TestDatabases.warmUp(provider);
		return provider;
	}

	private static AttemptResult attempt(JdbcLockProvider provider, Duration timeout) {
		return resultOf(provider.newContender(KEY, () -> {
		}).attempt(OwnerId.random(), LEASE, false, timeout));
	}

	private static void acquireAndRelease(JdbcLockProvider provider) {
		LockGrant grant = ((Granted) attempt(provider, TIMEOUT)).grant();
		assertThat(resultOf(provider.release(KEY, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
	}

	/** Locks the row of the key, which is free, until the connection is closed. */
	private static Connection lockRow(DataSource database) throws SQLException {
		Connection connection = database.getConnection();
		TestDatabases.begin(connection);
		try (Statement statement = connection.createStatement()) {
			statement.executeQuery("SELECT owner FROM distributed_lock WHERE holder IS NOT NULL FOR UPDATE");
		}
		return connection;
	}

	@ParameterizedTest
	@MethodSource("poolsOfServersWithAborts")
	void statementsOfAbortedCallsAreCancelled(Pool pool, Database kind) throws SQLException {
		DataSource database = TestDatabases.withTable(kind.create());
		JdbcLockProvider provider = provider(pool, database);
		acquireAndRelease(provider);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		try (Connection connection = lockRow(database)) {
			for (int call = 0; call < 2 * SIZE; call++) {
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> attempt(provider, Duration.ofMillis(300)));
			}
			// A slow machine may not begin each cancellation in time.
			await()
				.untilAsserted(() -> assertThat(jdbc.queryForList(kind.waiting, Long.class)).hasSizeLessThan(2 * SIZE));
			connection.rollback();
		}
		// Not by another grant: a statement that was not cancelled may have the lock.
		assertThat(resultOf(provider.release(KEY, OwnerId.random(), TIMEOUT))).isEqualTo(ReleaseOutcome.NOT_HELD);
	}

	@ParameterizedTest
	@MethodSource("poolsOfDatabases")
	void connectionsThatTheServerEndedAreReplaced(Pool pool, Database kind) {
		DataSource database = TestDatabases.withTable(kind.create());
		JdbcLockProvider provider = provider(pool, database);
		acquireAndRelease(provider);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		List<Long> sessions = jdbc.queryForList(kind.all, Long.class);
		assertThat(sessions).isNotEmpty();
		for (long session : sessions) {
			jdbc.execute(kind.kill.formatted(session));
		}
		// The server ends them a little later.
		await().untilAsserted(
				() -> assertThat(jdbc.queryForList(kind.all, Long.class)).doesNotContainAnyElementsOf(sessions));
		int failures = 0;
		for (int call = 0; call < 3 * SIZE; call++) {
			failures += (resultOf(provider.release(KEY, OwnerId.random(), TIMEOUT)) != ReleaseOutcome.NOT_HELD) ? 1 : 0;
		}
		// Each is lent once more at most.
		assertThat(failures).isLessThanOrEqualTo(sessions.size());
	}

	@ParameterizedTest
	@MethodSource("poolsOfServersWithAborts")
	void connectionEndedDuringACallDoesNotGoBack(Pool pool, Database kind) throws Exception {
		DataSource database = TestDatabases.withTable(kind.create());
		JdbcLockProvider provider = provider(pool, database);
		acquireAndRelease(provider);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		try (Connection connection = lockRow(database)) {
			Thread killer = new Thread(() -> {
				await().atMost(PATIENCE).until(() -> !jdbc.queryForList(kind.waiting, Long.class).isEmpty());
				jdbc.queryForList(kind.waiting, Long.class)
					.forEach((session) -> jdbc.execute(kind.kill.formatted(session)));
			});
			killer.start();
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(provider, TIMEOUT));
			killer.join();
			connection.rollback();
		}
		for (int call = 0; call < 2 * SIZE; call++) {
			acquireAndRelease(provider);
		}
	}

}
