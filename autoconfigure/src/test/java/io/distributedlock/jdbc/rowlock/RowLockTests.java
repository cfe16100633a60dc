package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.JdbcFixture;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.PgBouncerServer;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.WaitingTransactions;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.LockKeyEncoder;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.jdbc.dialect.Sql;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Busy;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.testkit.StoreCalls;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** What row locks have beyond the contract: connections, sessions, and their end. */
@Tag("full")
class RowLockTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final List<AutoCloseable> resources = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
	}

	private RowLockFixture fixture(Database database) {
		RowLockFixture fixture = new RowLockFixture(TestDatabases.withTable(database.fresh.get()));
		this.resources.add(fixture);
		return fixture;
	}

	private LockTemplate locks(LockProvider provider) {
		LockTimer timer = new LockTimer();
		LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), timer, List.of(), List.of());
		this.resources.add(timer);
		this.resources.add(locks);
		return locks;
	}

	private static AttemptResult attempt(LockProvider provider, LockKey key, Duration lease) {
		return StoreCalls.resultOf(newContender(provider, key).attempt(OwnerId.random(), lease, false, TIMEOUT));
	}

	private static LockContender newContender(LockProvider provider, LockKey key) {
		return provider.newContender(key, () -> {
			// The test attempts by itself.
		});
	}

	private static LockGrant acquire(LockProvider provider, LockKey key) {
		return ((Granted) attempt(provider, key, LEASE)).grant();
	}

	private static ReleaseOutcome release(LockProvider provider, LockGrant grant) {
		return StoreCalls.resultOf(provider.release(grant.key(), grant.owner(), TIMEOUT));
	}

	private static RenewalOutcome renew(LockProvider provider, LockGrant grant) {
		return StoreCalls.resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT)).get(grant);
	}

	@Test
	void exhaustedPoolIsAnErrorWithItsReasonAndHoldsUpNoRenewalOrRelease() {
		RowLockFixture fixture = fixture(Database.POSTGRESQL);
		JdbcRowLockProvider provider = fixture.newProcess(fixture.url(), 2);
		TestDatabases.warmUp(provider);
		LockGrant first = acquire(provider, KEY);
		LockGrant second = acquire(provider, LockKey.of("orders", "43"));
		LockRequest third = LockRequest.of(LockKey.of("orders", "44")).withWaitTime(Duration.ofSeconds(2));
		long start = System.nanoTime();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> locks(provider).acquire(third))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT))
			.withMessageContaining("all 2 are in use; raise distributed-lock.jdbc.pool.row-lock-size");
		assertThat(Duration.ofNanos(System.nanoTime() - start))
			.isLessThan(TimeBounds.withLoad(Duration.ofMillis(4250)));
		assertThat(renew(provider, first)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(release(provider, second)).isEqualTo(ReleaseOutcome.RELEASED);
		locks(provider).acquire(third.withWaitTime(PATIENCE)).close();
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void endedSessionIsToldOnTheNextRenewalAndLeavesNoConnection(Database database) {
		RowLockFixture fixture = fixture(database);
		JdbcRowLockProvider provider = fixture.newProcess(fixture.url(), 3);
		TestDatabases.warmUp(provider);
		Duration lease = TimeBounds.withLoad(Duration.ofSeconds(2));
		LockTemplate locks = locks(provider);
		List<Duration> told = new ArrayList<>();
		for (int round = 0; round < 4; round++) {
			LockLease held = locks.acquire(LockRequest.of(KEY).withLease(lease).withWaitTime(PATIENCE));
			fixture.expire(KEY);
			long ended = System.nanoTime();
			await().atMost(PATIENCE).until(() -> !held.isHeld());
			told.add(Duration.ofNanos(System.nanoTime() - ended));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::ensureHeld)
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.NOT_HELD));
			held.close();
			await().until(() -> provider.pool().kept() == 0);
		}
		// A stalled machine is late in some rounds.
		Duration limit = TimeBounds.withLoad(lease.dividedBy(3).plusMillis(250));
		assertThat(told).filteredOn((time) -> time.compareTo(limit) >= 0).hasSizeLessThanOrEqualTo(2);
		for (int number = 0; number < 3; number++) {
			acquire(provider, LockKey.of("orders", "free", Integer.toString(number)));
		}
	}

	@Test
	void returnedConnectionHasNoOpenTransaction() {
		RowLockFixture fixture = fixture(Database.POSTGRESQL);
		LockProvider provider = fixture.newProcess();
		for (int round = 0; round < 20; round++) {
			LockGrant grant = acquire(provider, KEY);
			assertThat(attempt(provider, KEY, LEASE)).isInstanceOf(Busy.class);
			release(provider, grant);
		}
		String open = """
				SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND state LIKE 'idle in transaction%'""";
		assertThat(fixture.jdbc().queryForObject(open, Long.class)).isZero();
		acquire(provider, KEY);
		assertThat(fixture.jdbc().queryForObject(open, Long.class)).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void orderIsNotWrittenBeforeTheRowIsLocked(Database database) throws SQLException {
		RowLockFixture fixture = fixture(database);
		LockProvider provider = fixture.newProcess();
		LockGrant grant = acquire(provider, KEY);
		release(provider, grant);
		Object row = TestDatabases.isMySqlCompatible(fixture.url()) || fixture.url().startsWith("jdbc:h2")
				? new LockKeyEncoder(JdbcFixture.PREFIX).encodeRow(KEY).getBytes()
				: new LockKeyEncoder(JdbcFixture.PREFIX).encodeRow(KEY);
		try (Connection other = fixture.jdbc().getDataSource().getConnection()) {
			TestDatabases.begin(other);
			try (PreparedStatement statement = other
				.prepareStatement("SELECT lock_key FROM distributed_lock WHERE lock_key = ? FOR UPDATE")) {
				statement.setObject(1, row);
				assertThat(statement.executeQuery().next()).isTrue();
			}
			assertThat(attempt(provider, KEY, LEASE)).isInstanceOf(Busy.class);
			assertThat(fixture.jdbc()
				.queryForObject("SELECT grant_order FROM distributed_lock WHERE lock_key = ?", Long.class,
						fixture.storeKey(KEY)))
				.isEqualTo(grant.order());
			other.rollback();
		}
		assertThat(acquire(provider, KEY).order()).isGreaterThan(grant.order());
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void rowsThatAreOldAreSweptUnlessTheyAreLocked(Database database) throws SQLException {
		RowLockFixture fixture = fixture(database);
		JdbcRowLockProvider provider = (JdbcRowLockProvider) fixture.newProcess();
		for (int number = 0; number < 150; number++) {
			release(provider, acquire(provider, LockKey.of("orders", "old", Integer.toString(number))));
		}
		LockGrant held = acquire(provider, KEY);
		String rows = "SELECT count(*) FROM distributed_lock WHERE holder IS NULL AND grant_order > 2";
		assertThat(fixture.jdbc().queryForObject(rows, Long.class)).isEqualTo(151);
		provider.sweeper().run();
		assertThat(fixture.jdbc().queryForObject(rows, Long.class)).isEqualTo(151);
		age(fixture);
		provider.sweeper().run();
		assertThat(fixture.jdbc()
			.queryForObject("SELECT count(*) FROM distributed_lock WHERE grant_order = 3", Long.class)).isEqualTo(0);
		assertThat(attempt(fixture.newProcess(), KEY, LEASE)).isInstanceOf(Busy.class);
		assertThat(renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
		acquire(provider, LockKey.of("orders", "old", "1"));
	}

	@ParameterizedTest
	@EnumSource(value = Database.class, names = { "POSTGRESQL", "MARIADB" })
	@Tag("matrix")
	void sessionThatEndsBeforeTheOrderIsWrittenGrantsNothing(Database database) throws Exception {
		RowLockFixture fixture = fixture(database);
		JdbcRowLockProvider provider = fixture.newProcess(fixture.url(), 2);
		TestDatabases.warmUp(provider);
		LockProvider other = fixture.newProcess();
		LockGrant last = acquire(provider, KEY);
		assertThat(release(provider, last)).isEqualTo(ReleaseOutcome.RELEASED);
		boolean refused;
		do {
			OwnerId owner = OwnerId.random();
			Object end = endSessionBeforeTheOrder(fixture, provider, owner);
			// On a slow machine the attempt has given up its wait for the order.
			refused = end instanceof LockProviderException;
			assertThat(end).matches((result) -> result instanceof LockProviderException || result instanceof Busy);
			assertThat(provider.heldRows().find(LockRow.lockedBy(owner))).isNull();
			await().atMost(PATIENCE).until(() -> provider.pool().kept() == 0);
			LockGrant next = acquire(other, KEY);
			assertThat(next.order()).isGreaterThan(last.order());
			assertThat(other.release(KEY, owner, TIMEOUT).result()).isEqualTo(ReleaseOutcome.NOT_HELD);
			assertThat(renew(other, next)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(release(other, next)).isEqualTo(ReleaseOutcome.RELEASED);
			last = next;
		}
		while (!refused);
		acquire(provider, LockKey.of("orders", "43"));
		acquire(provider, LockKey.of("orders", "44"));
	}

	/**
	 * Ends the session of an attempt that has locked the row and waits for the row of the
	 * order.
	 * @return the result of the attempt, or its failure
	 */
	private static Object endSessionBeforeTheOrder(RowLockFixture fixture, LockProvider provider, OwnerId owner)
			throws SQLException {
		try (Connection blocker = fixture.jdbc().getDataSource().getConnection()) {
			TestDatabases.begin(blocker);
			Sql.query(blocker, "SELECT grant_order FROM distributed_lock WHERE lock_key = ? FOR UPDATE",
					(row) -> row.getLong(1), fixture.storeKey(KEY));
			CompletableFuture<Object> attempt = CompletableFuture
				.<Object>supplyAsync(
						() -> StoreCalls.resultOf(newContender(provider, KEY).attempt(owner, LEASE, false, TIMEOUT)),
						(task) -> new Thread(task, "attempt").start())
				.exceptionally(Throwable::getCause);
			await().atMost(PATIENCE)
				.pollInterval(Duration.ofMillis(20))
				.until(() -> attempt.isDone() || fixture.endSessionOfABlockedAttempt(blocker));
			blocker.rollback();
			return attempt.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
		}
	}

	@Test
	void leaseAndRowLockExcludeEachOther() {
		RowLockFixture fixture = fixture(Database.POSTGRESQL);
		LockProvider rows = fixture.newProcess();
		JdbcLockProvider leases = new JdbcLockProvider(
				LockDataSource.connect(fixture.url(), "postgres", "", null, 4, TIMEOUT),
				JdbcLockSettings.defaults(JdbcFixture.PREFIX), fixture.timer());
		this.resources.add(leases);
		TestDatabases.warmUp(leases);
		LockGrant lease = acquire(leases, KEY);
		assertThat(attempt(rows, KEY, LEASE)).isInstanceOf(Busy.class);
		release(leases, lease);
		LockGrant row = acquire(rows, KEY);
		assertThat(row.order()).isGreaterThan(lease.order());
		assertThat(attempt(leases, KEY, LEASE)).isInstanceOf(Busy.class);
		assertThat(leases.find(KEY, TIMEOUT))
			.hasValueSatisfying((lock) -> assertThat(lock.owner()).isEqualTo(row.owner()));
		release(rows, row);
		acquire(leases, KEY);
	}

	@Test
	void forcedReleaseReachesTheHolderWithItsNextRenewal() {
		RowLockFixture fixture = fixture(Database.H2);
		JdbcRowLockProvider holder = (JdbcRowLockProvider) fixture.newProcess();
		JdbcRowLockProvider operator = (JdbcRowLockProvider) fixture.newProcess();
		LockGrant grant = acquire(holder, KEY);
		assertThat(operator.forceRelease(KEY, operator.find(KEY, TIMEOUT).orElseThrow(), TIMEOUT))
			.isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(renew(holder, grant)).isEqualTo(RenewalOutcome.NOT_HELD);
		await().until(() -> attempt(operator, KEY, LEASE) instanceof Granted);
	}

	/** The statements of the documentation. */
	@ParameterizedTest
	@EnumSource(value = Database.class, names = { "POSTGRESQL", "MARIADB", "MYSQL" })
	void sessionThatHasLockedARowIsFoundByPeople(Database database) {
		RowLockFixture fixture = fixture(database);
		acquire(fixture.newProcess(), KEY);
		String statement = switch (database) {
			case POSTGRESQL -> """
					SELECT a.pid FROM distributed_lock d
					JOIN pg_locks l ON l.locktype = 'transactionid' AND l.granted AND l.transactionid = d.xmax
					JOIN pg_stat_activity a ON a.pid = l.pid
					WHERE d.lock_key = '{key}'""";
			case MYSQL -> """
					SELECT t.processlist_id FROM performance_schema.data_locks l
					JOIN performance_schema.threads t ON t.thread_id = l.thread_id
					WHERE l.object_name = 'distributed_lock' AND l.lock_type = 'RECORD' AND l.lock_status = 'GRANTED'
					AND l.object_schema = DATABASE() AND l.lock_data = CONCAT('0x', HEX('{key}'))""";
			default -> """
					SELECT p.id FROM information_schema.innodb_trx t
					JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
					WHERE p.db = DATABASE()""";
		};
		String encoded = statement.replace("{key}", new LockKeyEncoder(JdbcFixture.PREFIX).encodeRow(KEY));
		await().atMost(PATIENCE)
			.pollInterval(WaitingTransactions.POLL_INTERVAL)
			.untilAsserted(() -> assertThat(fixture.jdbc().queryForList(encoded, Long.class))
				.containsExactly(fixture.heldRow(KEY).session));
	}

	@Test
	void forcedReleaseCrossesTheTwoKinds() {
		RowLockFixture fixture = fixture(Database.H2);
		JdbcRowLockProvider rows = (JdbcRowLockProvider) fixture.newProcess();
		JdbcLockProvider leases = new JdbcLockProvider(
				LockDataSource.connect(fixture.url(), "sa", "", null, 4, TIMEOUT),
				JdbcLockSettings.defaults(JdbcFixture.PREFIX), fixture.timer());
		this.resources.add(leases);
		TestDatabases.warmUp(leases);
		LockGrant row = acquire(rows, KEY);
		StoredLock found = leases.find(KEY, TIMEOUT).orElseThrow();
		assertThat(leases.forceRelease(KEY, found, TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(leases.forceRelease(KEY, found, TIMEOUT)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(renew(rows, row)).isEqualTo(RenewalOutcome.NOT_HELD);
		LockGrant lease = acquire(leases, KEY);
		found = rows.find(KEY, TIMEOUT).orElseThrow();
		assertThat(rows.forceRelease(KEY, found, TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(rows.forceRelease(KEY, found, TIMEOUT)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(renew(leases, lease)).isEqualTo(RenewalOutcome.NOT_HELD);
	}

	@ParameterizedTest
	@EnumSource(value = Database.class, names = { "POSTGRESQL", "MARIADB", "MYSQL" })
	void serverEndsTheSessionOfAHolderThatIsSilentForALease(Database database) {
		RowLockFixture fixture = fixture(database);
		LockProvider silent = fixture.newProcess();
		LockProvider other = fixture.newProcess();
		assertThat(attempt(silent, KEY, Duration.ofSeconds(1))).isInstanceOf(Granted.class);
		// Nothing unlocks the row in this process any more.
		fixture.timer().close();
		await().atMost(PATIENCE).until(() -> attempt(other, KEY, LEASE) instanceof Granted);
	}

	@Test
	void renewalsKeepASessionThatTheServerWouldEndSooner() {
		RowLockFixture fixture = fixture(Database.POSTGRESQL);
		fixture.jdbc()
			.execute("DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database()"
					+ " || ' SET idle_in_transaction_session_timeout = 500'; END $$");
		LockTemplate locks = locks(fixture.newProcess());
		try (LockLease lease = locks.acquire(LockRequest.of(KEY).withLease(Duration.ofSeconds(6)))) {
			await().during(Duration.ofSeconds(3)).atMost(PATIENCE).until(lease::isHeld);
			assertThat(fixture.heldRow(KEY).isEnding()).isFalse();
		}
	}

	@Test
	void closedProviderLeavesItsLockToTheHolder() {
		RowLockFixture fixture = fixture(Database.POSTGRESQL);
		JdbcRowLockProvider provider = (JdbcRowLockProvider) fixture.newProcess();
		LockProvider other = fixture.newProcess();
		attempt(provider, KEY, TimeBounds.withLoad(Duration.ofSeconds(1)));
		provider.close();
		assertThat(attempt(other, KEY, LEASE)).isInstanceOf(Busy.class);
		await().atMost(PATIENCE).until(() -> attempt(other, KEY, LEASE) instanceof Granted);
	}

	@Test
	void poolerIsRefused() {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		PgBouncerServer server = PgBouncerServer.start(database, "transaction");
		this.resources.add(server);
		LockTimer timer = new LockTimer();
		this.resources.add(timer);
		String url = server.through(database).getUrl();
		JdbcRowLockProvider provider = new JdbcRowLockProvider(
				LockDataSource.connect(url, "postgres", "", null, 2, TIMEOUT),
				LockDataSource.connect(url, "postgres", "", null, 2, TIMEOUT), TIMEOUT,
				JdbcLockSettings.defaults("app"), timer);
		this.resources.add(provider);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> provider.check(TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE));
	}

	@Test
	void poolThatIsNotItsOwnIsRefused() {
		LockTimer timer = new LockTimer();
		this.resources.add(timer);
		LockDataSource shared = LockDataSource.of(TestDatabases.h2(), 2);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new JdbcRowLockProvider(shared, shared, TIMEOUT, JdbcLockSettings.defaults("app"), timer))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY));
	}

	/** Makes all rows but the locked one as old as the retention. */
	private static void age(RowLockFixture fixture) throws SQLException {
		try (Connection connection = fixture.jdbc().getDataSource().getConnection()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			List<Object> keys = Sql.query(connection, """
					SELECT lock_key FROM distributed_lock WHERE holder IS NULL AND grant_order > 2
					ORDER BY lock_key FOR UPDATE SKIP LOCKED""", (row) -> row.getObject(1));
			for (Object key : keys) {
				Sql.update(connection, "UPDATE distributed_lock SET grant_order = 3 WHERE lock_key = ?", key);
			}
			connection.commit();
			assertThat(keys).hasSizeGreaterThanOrEqualTo(150);
		}
	}

	/** Database under test. */
	enum Database {

		H2(TestDatabases::h2), POSTGRESQL(TestDatabases::postgres), MARIADB(TestDatabases::mariaDb),
		MYSQL(TestDatabases::mySql);

		private final Supplier<DataSource> fresh;

		Database(Supplier<DataSource> fresh) {
			this.fresh = fresh;
		}

	}

}
