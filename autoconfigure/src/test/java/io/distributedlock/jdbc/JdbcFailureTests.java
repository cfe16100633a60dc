package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.PostgresDialect;
import io.distributedlock.jdbc.dialect.RowAttempt;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Tag("full")
class JdbcFailureTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** For calls that wait for each other on a slow machine. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
		this.timer.close();
	}

	/**
	 * Databases in which a statement waits for a row's lock until it is ended from
	 * outside.
	 */
	enum BlockingDatabase {

		HSQLDB {
			@Override
			DataSource database() {
				return TestDatabases.hsqldb();
			}
		},
		DERBY {
			@Override
			DataSource database() {
				return TestDatabases.derby();
			}
		},
		H2 {
			@Override
			DataSource database() {
				return TestDatabases.h2(";LOCK_TIMEOUT=20000");
			}
		},
		H2_SERVER {
			@Override
			DataSource database() {
				DataSource dataSource = TestDatabases.h2Server();
				TestDatabases.execute(dataSource, "SET DEFAULT_LOCK_TIMEOUT 20000");
				return dataSource;
			}
		},
		POSTGRES {
			@Override
			DataSource database() {
				return TestDatabases.postgres();
			}
		},
		MARIADB {
			@Override
			DataSource database() {
				return TestDatabases.mariaDb();
			}
		},
		MARIADB_WITH_MYSQL_DRIVER {
			@Override
			DataSource database() {
				return TestDatabases.mariaDbWithMySqlDriver();
			}
		},
		MYSQL {
			@Override
			DataSource database() {
				return TestDatabases.mySql();
			}
		};

		abstract DataSource database();

	}

	private JdbcLockProvider provider(DataSource dataSource, int size) {
		JdbcLockProvider provider = new JdbcLockProvider(LockDataSource.of(dataSource, size),
				JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		return provider;
	}

	private static AttemptResult attempt(JdbcLockProvider provider, LockKey key, Duration timeout) {
		return resultOf(provider.newContender(key, () -> {
		}).attempt(OwnerId.random(), LEASE, false, timeout));
	}

	private static LockGrant acquire(JdbcLockProvider provider, LockKey key) {
		return ((Granted) attempt(provider, key, PATIENCE)).grant();
	}

	/** Attempts until a server that has ended a statement grants the lock again. */
	private static void awaitGrant(JdbcLockProvider provider) {
		Awaitility.await()
			.atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> attempt(provider, KEY, TIMEOUT) instanceof Granted);
	}

	private static Map<LockGrant, RenewalOutcome> renew(JdbcLockProvider provider, LockGrant grant) {
		return resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT));
	}

	private static ReleaseOutcome release(JdbcLockProvider provider, LockGrant grant) {
		return resultOf(provider.release(grant.key(), grant.owner(), TIMEOUT));
	}

	/** Leaves a free row for the key, locked by a transaction until that is closed. */
	private Connection lockFreeRow(DataSource database, JdbcLockProvider provider) throws SQLException {
		LockGrant grant = acquire(provider, KEY);
		release(provider, grant);
		Connection connection = database.getConnection();
		TestDatabases.begin(connection);
		try (Statement statement = connection.createStatement()) {
			statement.executeUpdate("UPDATE distributed_lock SET acquired_at = 1 WHERE holder IS NOT NULL");
		}
		return connection;
	}

	@ParameterizedTest
	@EnumSource
	void attemptTimesOutAndItsLateGrantIsReleased(BlockingDatabase blocking) throws Exception {
		DataSource database = TestDatabases.withTable(blocking.database());
		JdbcLockProvider provider = provider(database, 8);
		OwnerId owner = OwnerId.random();
		try (Connection connection = lockFreeRow(database, provider)) {
			long start = System.nanoTime();
			LockProviderException ex = catchThrowableOfType(LockProviderException.class,
					() -> resultOf(provider.newContender(KEY, () -> {
					}).attempt(owner, LEASE, false, Duration.ofMillis(300))));
			assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT);
			// A statement that nothing ends waits for 20 s or longer.
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(290),
					TimeBounds.withLoad(3550));
			connection.rollback();
		}
		// A server that does not know of the time-out may grant after it. Then the lock
		// needs a release by owner, which in an application is a pending release.
		Awaitility.await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
			if (blocking.compareTo(BlockingDatabase.POSTGRES) >= 0) {
				resultOf(provider.release(KEY, owner, TIMEOUT));
			}
			return attempt(provider, KEY, TIMEOUT) instanceof Granted;
		});
	}

	@ParameterizedTest
	@EnumSource
	void interruptEndsAnAttemptAndStaysSet(BlockingDatabase blocking) throws Exception {
		DataSource database = TestDatabases.withTable(blocking.database());
		JdbcLockProvider provider = provider(database, 8);
		ExecutorService threads = Executors.newSingleThreadExecutor();
		this.resources.add(threads::shutdownNow);
		try (Connection connection = lockFreeRow(database, provider)) {
			Thread[] waiter = new Thread[1];
			long[] ended = new long[1];
			Future<Boolean> flag = threads.submit(() -> {
				waiter[0] = Thread.currentThread();
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> attempt(provider, KEY, Duration.ofSeconds(10)));
				ended[0] = System.nanoTime();
				return Thread.currentThread().isInterrupted();
			});
			Awaitility.await().pollDelay(Duration.ofMillis(150)).until(() -> waiter[0] != null);
			long start = System.nanoTime();
			waiter[0].interrupt();
			assertThat(flag.get(10, TimeUnit.SECONDS)).isTrue();
			// Without the interrupt it ends after ten seconds.
			assertThat(Duration.ofNanos(ended[0] - start)).isLessThan(TimeBounds.withLoad(3100));
			connection.rollback();
		}
		awaitGrant(provider);
	}

	/** HSQLDB locks whole tables, and both leave a call that hangs its connection. */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "HSQLDB", "DERBY" })
	void hangingAcquiresBlockNeitherRenewalNorRelease(BlockingDatabase blocking) throws Exception {
		DataSource database = TestDatabases.withTable(blocking.database());
		JdbcLockProvider provider = provider(database, 4);
		LockGrant held = acquire(provider, LockKey.of("held"));
		ExecutorService threads = Executors.newFixedThreadPool(8);
		this.resources.add(threads::shutdownNow);
		try (Connection connection = database.getConnection()) {
			LockGrant grant = acquire(provider, KEY);
			TestDatabases.begin(connection);
			try (Statement statement = connection.createStatement()) {
				statement.executeQuery("SELECT owner FROM distributed_lock WHERE owner = '"
						+ LockRow.heldBy(grant.owner()) + "' FOR UPDATE");
			}
			List<Future<?>> hanging = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				hanging.add(threads.submit(() -> attempt(provider, KEY, Duration.ofSeconds(3))));
			}
			Awaitility.await().pollDelay(Duration.ofMillis(200)).until(() -> true);
			// Less than the hanging calls last.
			Duration timeout = TimeBounds.withLoad(1000);
			assertThat(resultOf(provider.renew(Map.of(held, LEASE), timeout))).containsEntry(held,
					RenewalOutcome.RENEWED);
			assertThat(resultOf(provider.release(held.key(), held.owner(), timeout)))
				.isEqualTo(ReleaseOutcome.RELEASED);
			for (Future<?> future : hanging) {
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> future.get(10, TimeUnit.SECONDS))
					.withCauseInstanceOf(LockProviderException.class);
			}
			connection.rollback();
		}
	}

	@ParameterizedTest
	@EnumSource
	void poolsOfOneAndTwoServeManyThreads(BlockingDatabase blocking) throws Exception {
		DataSource database = TestDatabases.withTable(blocking.database());
		ExecutorService threads = Executors.newFixedThreadPool(8);
		this.resources.add(threads::shutdownNow);
		for (int size = 1; size <= 2; size++) {
			JdbcLockProvider provider = provider(database, size);
			List<Future<?>> users = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				LockKey key = LockKey.of("user", Integer.toString(i));
				users.add(threads.submit(() -> {
					for (int n = 0; n < 5; n++) {
						LockGrant grant = acquire(provider, key);
						assertThat(resultOf(provider.renew(Map.of(grant, LEASE), PATIENCE)))
							.containsValue(RenewalOutcome.RENEWED);
						assertThat(resultOf(provider.release(key, grant.owner(), PATIENCE)))
							.isEqualTo(ReleaseOutcome.RELEASED);
					}
				}));
			}
			for (Future<?> user : users) {
				user.get(60, TimeUnit.SECONDS);
			}
		}
	}

	@Test
	void serverEndsStatementsOfTheLocksPool() throws Exception {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		JdbcLockProvider provider = new JdbcLockProvider(LockDataSource.connect(database.getURL(), database.getUser(),
				database.getPassword(), null, 4, Duration.ofMillis(600)), JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		TestDatabases.warmUp(provider);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		try (Connection connection = lockFreeRow(database, provider(database, 4))) {
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> attempt(provider, KEY, Duration.ofMillis(100)));
			// By itself it waits for as long as the row is locked.
			Awaitility.await()
				.atMost(TimeBounds.withLoad(4000))
				.until(() -> jdbc.queryForObject("SELECT count(*) FROM pg_stat_activity "
						+ "WHERE datname = current_database() AND wait_event_type = 'Lock'", Long.class) == 0);
			connection.rollback();
		}
		awaitGrant(provider);
	}

	@Test
	void missingRightIsReportedAndFourRightsSuffice() {
		PGSimpleDataSource admin = TestDatabases.withTable(TestDatabases.postgres());
		JdbcTemplate jdbc = new JdbcTemplate(admin);
		String role = "r" + OwnerId.random().text();
		jdbc.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'x'");
		PGSimpleDataSource limited = new PGSimpleDataSource();
		limited.setURL(admin.getURL());
		limited.setUser(role);
		limited.setPassword("x");
		JdbcLockProvider provider = provider(limited, 4);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(provider, KEY))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
			.withCauseInstanceOf(SQLException.class);
		jdbc.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON distributed_lock TO " + role);
		provider.check(TIMEOUT);
		LockGrant grant = acquire(provider, KEY);
		assertThat(renew(provider, grant)).containsValue(RenewalOutcome.RENEWED);
		assertThat(release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void killedConnectionIsAFailure() throws Exception {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		JdbcLockProvider provider = provider(database, 4);
		ExecutorService threads = Executors.newFixedThreadPool(1);
		this.resources.add(threads::shutdownNow);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		try (Connection connection = lockFreeRow(database, provider)) {
			Future<AttemptResult> waiting = threads.submit(() -> attempt(provider, KEY, PATIENCE));
			Awaitility.await()
				.until(() -> jdbc.queryForObject("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
						+ "WHERE datname = current_database() AND wait_event_type = 'Lock'", Long.class) > 0);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiting::get)
				.withCauseInstanceOf(LockProviderException.class)
				.satisfies((ex) -> assertThat(((LockProviderException) ex.getCause()).error())
					.isEqualTo(LockError.STORE_FAILED));
			connection.rollback();
		}
	}

	@Test
	void unreachableDatabaseIsAFailureOfEveryStep() {
		DataSource database = TestDatabases.withTable(TestDatabases.h2());
		JdbcLockProvider provider = provider(database, 4);
		LockGrant grant = acquire(provider, KEY);
		PGSimpleDataSource nowhere = new PGSimpleDataSource();
		nowhere.setURL("jdbc:postgresql://localhost:1/none");
		JdbcLockProvider unreachable = provider(nowhere, 4);
		LockProviderException ex = catchThrowableOfType(LockProviderException.class, () -> acquire(unreachable, KEY));
		assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED);
		assertThat(ex).hasCauseInstanceOf(SQLException.class);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> renew(unreachable, grant));
		assertThat(release(unreachable, grant)).isEqualTo(ReleaseOutcome.UNKNOWN);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> unreachable.check(TIMEOUT));
		TestDatabases.execute(database, "DROP ALL OBJECTS");
		assertThat(release(provider, grant)).isEqualTo(ReleaseOutcome.UNKNOWN);
	}

	@Test
	void busyAnswersCommitAsynchronouslyGrantsDoNot() throws Exception {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		PostgresDialect dialect = new PostgresDialect("distributed_lock");
		try (Connection connection = database.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			statement.execute("SET SESSION synchronous_commit = on");
			connection.commit();
			String owner = OwnerId.random().text();
			RowAttempt attempt = new RowAttempt("k", owner, 60_000_000, "h", "p", true, null);
			dialect.attempt(connection, attempt, true);
			assertThat(setting(statement)).isEqualTo("on");
			connection.commit();
			RowAttempt other = new RowAttempt("k", OwnerId.random().text(), 60_000_000, "h", "q", true, null);
			dialect.attempt(connection, other, true);
			assertThat(setting(statement)).isEqualTo("off");
			connection.commit();
			assertThat(setting(statement)).isEqualTo("on");
			dialect.renew(connection, List.of(new Dialect.Renewal("k", owner, 60_000_000)));
			assertThat(setting(statement)).isEqualTo("on");
			connection.commit();
			assertThat(dialect.release(connection, "k", owner, "p")).isTrue();
			assertThat(setting(statement)).isEqualTo("off");
			connection.commit();
			dialect.attempt(connection, new RowAttempt("k", OwnerId.random().text(), 60_000_000, "h", "q", true, 1L),
					false);
			assertThat(setting(statement)).isEqualTo("on");
			connection.commit();
		}
	}

	private static String setting(Statement statement) throws SQLException {
		try (var result = statement.executeQuery("SHOW synchronous_commit")) {
			result.next();
			return result.getString(1);
		}
	}

}
