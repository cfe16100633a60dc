package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.LockRow;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Busy;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ProcessLabel;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.Soak;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

abstract class AbstractJdbcLockProviderTests {

	static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration HOUR = Duration.ofHours(1);

	static final Duration SHORT = Duration.ofMillis(100);

	/** Calls end within it on a stalled machine, their waits for rows within half. */
	static final Duration TIMEOUT = Duration.ofSeconds(10);

	/** For the acquisition of hundreds of locks, one after the other. */
	private static final Duration LONG_LEASE = Duration.ofMinutes(5);

	private static final long RETENTION_MICROS = TimeUnit.HOURS.toMicros(1);

	static final LockKey KEY = LockKey.of("orders", "42");

	final List<AutoCloseable> resources = new ArrayList<>();

	LockTimer timer;

	DataSource database;

	JdbcTemplate jdbc;

	JdbcLockProvider provider;

	JdbcLockProvider other;

	abstract DataSource database();

	/** Returns a time-out of calls that is longer than a wait for a locked row. */
	Duration impatience() {
		return Duration.ofSeconds(1);
	}

	/** Asserts that no call has waited for a row as it may with {@link #TIMEOUT}. */
	private void assertImpatient(long begunNanos) {
		assertThat(since(begunNanos)).isLessThan(TimeBounds.withLoad(impatience().plusSeconds(2)));
	}

	private static Duration since(long begunNanos) {
		return Duration.ofNanos(System.nanoTime() - begunNanos);
	}

	/** Returns the SQL of a time by the database's clock. */
	private String after(Duration duration) {
		return TestDatabases.clock(TestDatabases.url(this.database)) + " + " + duration.toNanos() / 1000;
	}

	@BeforeEach
	void open() {
		this.timer = new LockTimer();
		this.database = TestDatabases.withTable(database());
		this.jdbc = new JdbcTemplate(this.database);
		this.provider = process(TIMEOUT);
		this.other = process(TIMEOUT);
	}

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
		this.timer.close();
	}

	/**
	 * Waits until the provider has done what it does once for its first contender.
	 * @param poll one further attempt of that contender, which keeps it active
	 */
	void awaitListening(JdbcLockProvider waiting, Runnable poll) {
	}

	private LockDataSource pool(Duration callTimeout) {
		com.zaxxer.hikari.HikariConfig config = new com.zaxxer.hikari.HikariConfig();
		config.setDataSource(this.database);
		com.zaxxer.hikari.HikariDataSource application = new com.zaxxer.hikari.HikariDataSource(config);
		LockDataSource derived = LockDataSource.derive(application, 8, callTimeout);
		application.close();
		return derived;
	}

	/**
	 * Creates a process that has opened its first connection.
	 * @param callTimeout after which the database ends a statement, and after half of it
	 * a wait for a row
	 */
	JdbcLockProvider process(Duration callTimeout) {
		JdbcLockProvider created = provider(pool(callTimeout));
		TestDatabases.warmUp(created);
		return created;
	}

	JdbcLockProvider provider(LockDataSource dataSource) {
		return provider(dataSource, JdbcLockSettings.defaults("app"));
	}

	JdbcLockProvider provider(LockDataSource dataSource, JdbcLockSettings settings) {
		JdbcLockProvider created = new JdbcLockProvider(dataSource, settings, this.timer);
		this.resources.add(created);
		return created;
	}

	static LockGrant granted(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(Granted.class);
		return ((Granted) attempt).grant();
	}

	static Busy busy(AttemptResult attempt) {
		assertThat(attempt).isInstanceOf(Busy.class);
		return (Busy) attempt;
	}

	static LockContender enter(JdbcLockProvider provider, LockKey key) {
		return provider.newContender(key, () -> {
		});
	}

	static LockGrant acquire(JdbcLockProvider provider, LockKey key, Duration lease) {
		return granted(resultOf(enter(provider, key).attempt(OwnerId.random(), lease, false, TIMEOUT)));
	}

	static ReleaseOutcome release(JdbcLockProvider provider, LockGrant grant) {
		return resultOf(provider.release(grant.key(), grant.owner(), TIMEOUT));
	}

	/** Repeats a release whose outcome is unknown, such as one that timed out. */
	static ReleaseOutcome releaseForCertain(JdbcLockProvider provider, LockGrant grant) {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.until(() -> release(provider, grant), (outcome) -> outcome != ReleaseOutcome.UNKNOWN);
	}

	static AttemptResult attempt(LockContender contender, boolean willWait) {
		return resultOf(contender.attempt(OwnerId.random(), LEASE, willWait, TIMEOUT));
	}

	static Map<LockGrant, RenewalOutcome> renew(JdbcLockProvider provider, Map<LockGrant, Duration> leases) {
		return resultOf(provider.renew(leases, TIMEOUT));
	}

	/** Keeps the entries of the wait queue valid, however slow the machine is. */
	private void keepEntries() {
		for (String entry : List.of("first_waiter", "second_waiter")) {
			this.jdbc.update("UPDATE distributed_lock SET " + entry + "_until = " + after(HOUR) + " WHERE " + entry
					+ " NOT LIKE '.%'");
		}
	}

	/** Releases a lock, and keeps its reservation valid. */
	private void releaseToWaiter(JdbcLockProvider holder, LockGrant grant) {
		keepEntries();
		release(holder, grant);
		assertThat(this.jdbc
			.update("UPDATE distributed_lock SET expires_at = " + after(HOUR) + " WHERE owner LIKE 'reserved:%'"))
			.as("reservations")
			.isEqualTo(1);
	}

	static void awaitExpiry(LockGrant grant) {
		Awaitility.await().pollDelay(grant.validity().plusMillis(20)).until(() -> true);
	}

	@Test
	void freeKeyIsGrantedAndHeldKeyIsBusy() {
		long begun = System.nanoTime();
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		assertThat(grant.validity()).isBetween(LEASE.minusSeconds(1), LEASE);
		Busy busy = busy(attempt(enter(this.other, KEY), false));
		assertThat(busy.retryAfter()).isBetween(Duration.ofMillis(1), Duration.ofMillis(250));
		assertThat(busy.holder().label()).isEqualTo(ProcessLabel.get());
		assertThat(busy.holder().heldFor()).isBetween(Duration.ZERO, TimeBounds.withLoad(since(begun)));
		assertThat(busy.holder().remaining()).isBetween(LEASE.minus(TimeBounds.withLoad(since(begun))), LEASE);
		assertThat(release(this.provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(release(this.provider, grant)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(acquire(this.other, KEY, LEASE).order()).isGreaterThan(grant.order());
	}

	@Test
	void repeatedAttemptOfAnOwnerReturnsTheSameGrant() {
		OwnerId owner = OwnerId.random();
		LockGrant first = granted(resultOf(enter(this.provider, KEY).attempt(owner, LEASE, true, TIMEOUT)));
		List<Map<String, Object>> before = this.jdbc.queryForList("SELECT * FROM distributed_lock ORDER BY lock_key");
		LockGrant second = granted(
				resultOf(enter(this.provider, KEY).attempt(owner, LEASE.multipliedBy(2), true, TIMEOUT)));
		assertThat(second.order()).isEqualTo(first.order());
		assertThat(second.validity()).isLessThan(LEASE);
		List<Map<String, Object>> after = this.jdbc.queryForList("SELECT * FROM distributed_lock ORDER BY lock_key");
		assertThat(after.toString().replaceAll("(?i)lock_key=[^,]*", ""))
			.isEqualTo(before.toString().replaceAll("(?i)lock_key=[^,]*", ""));
	}

	@Test
	void freshKeyIsGrantedToOneOfSixteenThreads() throws Exception {
		attemptFreshKeysConcurrently(60);
	}

	@Test
	@Soak
	void freshKeyIsGrantedToOneOfSixteenThreadsAThousandTimes() throws Exception {
		attemptFreshKeysConcurrently(1000);
	}

	private void attemptFreshKeysConcurrently(int rounds) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(16);
		this.resources.add(threads::shutdownNow);
		for (int round = 0; round < rounds; round++) {
			LockKey key = LockKey.of("fresh", Integer.toString(round));
			CyclicBarrier barrier = new CyclicBarrier(16);
			List<Callable<AttemptResult>> tasks = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				JdbcLockProvider asked = (i % 2 == 0) ? this.provider : this.other;
				tasks.add(() -> {
					barrier.await();
					return attempt(enter(asked, key), true);
				});
			}
			int winners = 0;
			for (Future<AttemptResult> answer : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
				winners += (answer.get() instanceof Granted) ? 1 : 0;
			}
			assertThat(winners).isEqualTo(1);
		}
	}

	@Test
	void ordersRiseAcrossReleaseExpirySweepAndEmptiedTable() throws Exception {
		List<Long> orders = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			LockGrant grant = acquire(this.provider, KEY, LEASE);
			orders.add(grant.order());
			release(this.provider, grant);
		}
		LockGrant expiring = acquire(this.provider, KEY, Duration.ofMillis(30));
		orders.add(expiring.order());
		awaitExpiry(expiring);
		LockGrant released = acquire(this.other, KEY, LEASE);
		orders.add(released.order());
		release(this.other, released);
		ageRows(this.jdbc);
		assertThat(this.provider.sweeper().run()).isPositive();
		LockGrant afterSweep = acquire(this.provider, KEY, LEASE);
		orders.add(afterSweep.order());
		this.jdbc.update("DELETE FROM distributed_lock");
		orders.add(acquire(this.provider, KEY, LEASE).order());
		assertThat(orders).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void orderAheadOfTheClockRisesByOneAndIsNotSwept() throws Exception {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		release(this.provider, grant);
		long ahead = (1L << 52) + 12345;
		this.jdbc.update("UPDATE distributed_lock SET grant_order = ?, expires_at = " + after(HOUR.multipliedBy(-2))
				+ " WHERE holder IS NOT NULL", ahead);
		assertThat(this.provider.sweeper().run()).isZero();
		assertThat(acquire(this.provider, KEY, LEASE).order()).isEqualTo(ahead + 1);
	}

	@Test
	void rowAcquiredAgainIsNotSwept() throws Exception {
		release(this.provider, acquire(this.provider, KEY, LEASE));
		ageRows(this.jdbc);
		Dialect dialect = dialect();
		try (Connection connection = this.database.getConnection()) {
			List<String> keys = deletableKeys(dialect, connection);
			assertThat(keys).hasSize(1);
			LockGrant grant = acquire(this.other, KEY, LEASE);
			assertThat(dialect.sweep(connection, keys, RETENTION_MICROS)).isZero();
			assertThat(release(this.other, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		}
	}

	@Test
	void sweeperDeletesNoHeldRow() throws Exception {
		sweepDuringAttempts(100);
	}

	@Test
	@Soak
	void sweeperDeletesNoHeldRowInManyRounds() throws Exception {
		sweepDuringAttempts(10_000);
	}

	/**
	 * Sweeps an old row while an attempt runs. The owner that was granted the row must
	 * have it afterwards. The one that came first in a round starts later in the next,
	 * and further rounds follow until both orders have occurred.
	 */
	private void sweepDuringAttempts(int rounds) throws Exception {
		Dialect dialect = dialect();
		ExecutorService threads = Executors.newSingleThreadExecutor();
		this.resources.add(threads::shutdownNow);
		int swept = 0;
		int round = 0;
		long last = 0;
		long aheadNanos = 0;
		long begun = System.nanoTime();
		try (Connection connection = this.database.getConnection()) {
			JdbcTemplate rows = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
			for (; round < rounds || ((swept == 0 || swept == round) && isWithinAMinute(begun)); round++) {
				release(this.provider, acquire(this.provider, KEY, LEASE));
				ageRows(rows);
				List<String> keys = deletableKeys(dialect, connection);
				CyclicBarrier barrier = new CyclicBarrier(2);
				long sweepDelayNanos = Math.max(aheadNanos, 0);
				Future<Integer> deleted = threads.submit(() -> {
					barrier.await();
					LockSupport.parkNanos(sweepDelayNanos);
					return dialect.sweep(connection, keys, RETENTION_MICROS);
				});
				barrier.await();
				LockSupport.parkNanos(Math.max(-aheadNanos, 0));
				LockGrant grant = acquire(this.other, KEY, LEASE);
				int sweptNow = deleted.get(30, TimeUnit.SECONDS);
				swept += sweptNow;
				aheadNanos += TimeUnit.MICROSECONDS.toNanos((sweptNow > 0) ? 200 : -200);
				assertThat(grant.order()).isGreaterThan(last);
				last = grant.order();
				assertThat(releaseForCertain(this.other, grant)).isEqualTo(ReleaseOutcome.RELEASED);
			}
		}
		assertThat(swept).as("rounds in which the row was swept").isBetween(1, round - 1);
	}

	private static boolean isWithinAMinute(long begun) {
		return System.nanoTime() - begun < TimeUnit.MINUTES.toNanos(1);
	}

	/** Ends all leases longer ago than the retention. */
	private void ageRows(JdbcTemplate rows) {
		rows.update("UPDATE distributed_lock SET expires_at = " + after(HOUR.multipliedBy(-2))
				+ " WHERE holder IS NOT NULL");
	}

	private static List<String> deletableKeys(Dialect dialect, Connection connection) throws SQLException {
		return dialect.readSweepCandidates(connection, "", 100, RETENTION_MICROS)
			.stream()
			.filter(Dialect.SweepCandidate::deletable)
			.map(Dialect.SweepCandidate::key)
			.toList();
	}

	Dialect dialect() throws SQLException {
		try (Connection connection = this.database.getConnection()) {
			return DatabaseKind.of(connection).dialect("distributed_lock");
		}
	}

	@Test
	void releaseByAnotherOwnerChangesNothing() {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		assertThat(resultOf(this.other.release(KEY, OwnerId.random(), TIMEOUT))).isEqualTo(ReleaseOutcome.NOT_HELD);
		busy(attempt(enter(this.other, KEY), false));
		assertThat(release(this.provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void expiredGrantIsNotRenewedAndDoesNotReleaseItsSuccessor() {
		LockGrant first = acquire(this.provider, KEY, SHORT);
		awaitExpiry(first);
		assertThat(renew(this.provider, Map.of(first, LEASE))).containsEntry(first, RenewalOutcome.NOT_HELD);
		LockGrant second = acquire(this.other, KEY, LEASE);
		assertThat(renew(this.provider, Map.of(first, LEASE))).containsEntry(first, RenewalOutcome.NOT_HELD);
		assertThat(release(this.provider, first)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(renew(this.other, Map.of(second, LEASE))).containsEntry(second, RenewalOutcome.RENEWED);
	}

	@Test
	void renewalExtendsTheLease() {
		LockGrant grant = acquire(this.provider, KEY, LEASE.dividedBy(3));
		long begun = System.nanoTime();
		assertThat(renew(this.provider, Map.of(grant, LEASE))).containsEntry(grant, RenewalOutcome.RENEWED);
		Duration remaining = busy(attempt(enter(this.other, KEY), false)).holder().remaining();
		assertThat(remaining).isGreaterThan(LEASE.minus(TimeBounds.withLoad(since(begun))));
	}

	@Test
	void releaseReservesTheLockForTheFirstContender() {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		LockContender waiter = enter(this.other, KEY);
		busy(attempt(waiter, true));
		releaseToWaiter(this.provider, grant);
		Busy refused = busy(attempt(enter(this.provider, KEY), false));
		assertThat(refused.holder()).isNull();
		assertThat(granted(attempt(waiter, true)).order()).isGreaterThan(grant.order());
	}

	@Test
	void unusedReservationExpires() {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		busy(attempt(enter(this.other, KEY), true));
		keepEntries();
		release(this.provider, grant);
		assertThat(this.jdbc.queryForList("SELECT owner FROM distributed_lock WHERE holder IS NOT NULL", String.class))
			.containsExactly("reserved:" + this.other.process());
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.until(() -> attempt(enter(this.provider, KEY), false) instanceof Granted);
	}

	@Test
	void releaseReservesNothingForItsOwnProcess() {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		busy(attempt(enter(this.provider, KEY), true));
		release(this.provider, grant);
		acquire(this.other, KEY, LEASE);
	}

	@Test
	void withdrawalRemovesEntryAndReservation() {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		LockContender leaver = enter(this.other, KEY);
		busy(attempt(leaver, true));
		assertThat(resultOf(leaver.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(resultOf(leaver.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.NOT_HELD);
		release(this.provider, grant);
		grant = acquire(this.provider, KEY, LEASE);
		LockContender late = enter(this.other, KEY);
		busy(attempt(late, true));
		releaseToWaiter(this.provider, grant);
		assertThat(resultOf(late.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		acquire(this.provider, KEY, LEASE);
	}

	@Test
	void earlierContenderDisplacesALaterOneOnly() {
		JdbcLockProvider third = process(TIMEOUT);
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		LockContender early = enter(this.other, KEY);
		busy(attempt(early, true));
		keepEntries();
		LockContender late = enter(third, KEY);
		busy(attempt(late, true));
		releaseToWaiter(this.provider, grant);
		busy(attempt(late, true));
		LockGrant next = granted(attempt(early, true));
		// The grant has removed its entry, so the next contender becomes the first.
		busy(attempt(late, true));
		this.jdbc.update("UPDATE distributed_lock SET first_waiter = ?, first_waiter_since = " + after(HOUR)
				+ " WHERE first_waiter NOT LIKE '.%'", this.provider.process());
		busy(attempt(late, true));
		releaseToWaiter(this.other, next);
		busy(attempt(enter(this.provider, KEY), false));
		granted(attempt(late, true));
	}

	@Test
	void newContenderKeepsThePlaceOfOneThatWasNotWithdrawn() {
		JdbcLockProvider third = process(TIMEOUT);
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		LockContender left = enter(this.other, KEY);
		busy(attempt(left, true));
		LockContender late = enter(third, KEY);
		busy(attempt(late, true));
		LockContender back = enter(this.other, KEY);
		left.close();
		busy(attempt(back, true));
		keepEntries();
		busy(attempt(late, true));
		releaseToWaiter(this.provider, grant);
		granted(attempt(back, true));
	}

	@Test
	void expiredEntryIsReplaced() {
		JdbcLockProvider third = process(TIMEOUT);
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		busy(attempt(enter(this.other, KEY), true));
		LockContender late = enter(third, KEY);
		busy(attempt(late, true));
		this.jdbc.update("UPDATE distributed_lock SET first_waiter_until = " + after(Duration.ofSeconds(-1))
				+ " WHERE first_waiter NOT LIKE '.%'");
		busy(attempt(late, true));
		releaseToWaiter(this.provider, grant);
		busy(attempt(enter(this.other, KEY), false));
		granted(attempt(late, true));
	}

	@Test
	void grantIsLostAtTheNextRenewalAfterTheTableWasEmptied() {
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		this.jdbc.update("DELETE FROM distributed_lock WHERE holder IS NOT NULL");
		assertThat(renew(this.provider, Map.of(grant, LEASE))).containsValue(RenewalOutcome.NOT_HELD);
		assertThat(acquire(this.other, KEY, LEASE).order()).isGreaterThan(grant.order());
	}

	@Test
	void releasedKeyStaysFreeWhenTheClockStepsBack() {
		release(this.provider, acquire(this.provider, KEY, LEASE));
		this.jdbc.update("UPDATE distributed_lock SET expires_at = " + after(HOUR) + " WHERE holder IS NOT NULL");
		acquire(this.other, KEY, LEASE);
	}

	@Test
	void batchOfRenewalsHasAnOutcomeForEachGrant() throws Exception {
		List<LockGrant> grants = acquireBatch(500);
		Map<LockGrant, Duration> leases = new HashMap<>();
		grants.forEach((grant) -> leases.put(grant, LEASE.plusSeconds(leases.size())));
		Map<LockGrant, RenewalOutcome> expected = new HashMap<>();
		grants.forEach((grant) -> expected.put(grant, RenewalOutcome.RENEWED));
		release(this.provider, grants.get(7));
		expected.put(grants.get(7), RenewalOutcome.NOT_HELD);
		release(this.provider, grants.get(8));
		acquire(this.other, grants.get(8).key(), LEASE);
		expected.put(grants.get(8), RenewalOutcome.NOT_HELD);
		LockGrant neverGranted = new LockGrant(grants.get(9).key(), OwnerId.random(), 1, LEASE);
		leases.put(neverGranted, LEASE);
		expected.put(neverGranted, RenewalOutcome.NOT_HELD);
		expected.put(grants.get(10), RenewalOutcome.UNKNOWN);
		try (Connection connection = lockRow(grants.get(10))) {
			long begun = System.nanoTime();
			assertThat(renew(this.provider, leases)).isEqualTo(expected);
			assertImpatient(begun);
			connection.rollback();
		}
		assertThat(renew(this.provider, Map.of(grants.get(10), LEASE))).containsValue(RenewalOutcome.RENEWED);
		assertThat(busy(attempt(enter(this.other, grants.get(499).key()), false)).holder().remaining())
			.isGreaterThan(LEASE.plusSeconds(490));
	}

	private List<LockGrant> acquireBatch(int size) {
		List<LockGrant> grants = new ArrayList<>();
		for (int i = 0; i < size; i++) {
			grants.add(acquire(this.provider, LockKey.of("batch", Integer.toString(i)), LONG_LEASE));
		}
		return grants;
	}

	/** Locks the row of a grant until the connection ends its transaction. */
	private Connection lockRow(LockGrant grant) throws SQLException {
		Connection connection = this.database.getConnection();
		TestDatabases.begin(connection);
		try (var statement = connection
			.prepareStatement("SELECT owner FROM distributed_lock WHERE owner = ? FOR UPDATE")) {
			statement.setString(1, LockRow.heldBy(grant.owner()));
			statement.executeQuery();
		}
		return connection;
	}

	@Test
	void eachStepIsOneStatement() throws Exception {
		CountingDataSource counting = new CountingDataSource(this.database);
		JdbcLockProvider counted = provider(LockDataSource.of(counting, 8));
		// The first call of all may ask the server for its version.
		TestDatabases.warmUp(counted);
		counting.resetCount();
		LockGrant grant = acquire(counted, KEY, LEASE);
		assertThat(counting.resetCount()).isEqualTo(1);
		release(counted, grant);
		assertThat(counting.resetCount()).isEqualTo(1);
		LockContender contender = enter(counted, KEY);
		grant = granted(attempt(contender, true));
		assertThat(counting.resetCount()).isEqualTo(1);
		resultOf(contender.withdraw(TIMEOUT));
		assertThat(counting.resetCount()).isZero();
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (int i = 0; i < 500; i++) {
			leases.put(acquire(this.provider, LockKey.of("counted", Integer.toString(i)), LONG_LEASE), LEASE);
		}
		counting.resetCount();
		assertThat(renew(counted, leases)).hasSize(500).doesNotContainValue(RenewalOutcome.NOT_HELD);
		assertThat(counting.resetCount()).isEqualTo(1);
	}

	/** Returns how many statements a busy attempt takes at a key that was busy before. */
	int statementsOfBusyAttempt() {
		return 1;
	}

	@Test
	void attemptForAKeyThatWasBusyDoesNotExpectItFree() {
		CountingDataSource counting = new CountingDataSource(this.database);
		JdbcLockProvider counted = provider(LockDataSource.of(counting, 8));
		LockGrant grant = acquire(this.provider, KEY, LONG_LEASE);
		busy(attempt(enter(counted, KEY), false));
		// A machine that pauses for a second forgets that the key was busy.
		Awaitility.await().untilAsserted(() -> {
			counting.resetCount();
			busy(attempt(enter(counted, KEY), false));
			assertThat(counting.resetCount()).isEqualTo(1);
			assertThat(counting.lastStatements()).allMatch((sql) -> sql.startsWith("SELECT") && !sql.contains("MERGE"));
			LockContender waiter = enter(counted, KEY);
			busy(attempt(waiter, true));
			int statements = counting.resetCount();
			// The next one would take over its place.
			assertThat(resultOf(waiter.withdraw(TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(statements).isEqualTo(statementsOfBusyAttempt());
		});
		release(this.provider, grant);
		assertThat(acquire(counted, KEY, LEASE).order()).isGreaterThan(grant.order());
	}

	@Test
	void contenderOnlyReadsWhileTheRowIsUnchanged() throws Exception {
		CountingDataSource counting = new CountingDataSource(this.database);
		JdbcLockProvider counted = provider(LockDataSource.of(counting, 8));
		acquire(this.provider, KEY, LONG_LEASE);
		LockContender waiter = enter(counted, KEY);
		busy(attempt(waiter, true));
		awaitListening(counted, () -> busy(attempt(waiter, true)));
		keepEntries();
		counting.resetCount();
		for (int i = 0; i < 5; i++) {
			busy(attempt(waiter, true));
		}
		assertThat(counting.resetCount()).isEqualTo(5);
		assertThat(counting.lastStatements()).allMatch((sql) -> sql.startsWith("SELECT") && !sql.contains("MERGE"));
	}

	@Test
	void locksIgnoreTheCallersTransaction() {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.database));
		LockGrant grant = transaction.execute((status) -> {
			LockGrant taken = acquire(this.provider, KEY, LEASE);
			assertThat(renew(this.provider, Map.of(taken, LEASE))).containsValue(RenewalOutcome.RENEWED);
			status.setRollbackOnly();
			return taken;
		});
		busy(attempt(enter(this.other, KEY), false));
		assertThat(release(this.provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void unusualKeysStayDistinct() {
		String longText = "x".repeat(1_000_000);
		List<LockKey> keys = List.of(LockKey.of("k", "a"), LockKey.of("k", "A"), LockKey.of("k", "a "),
				LockKey.of("k", " a"), LockKey.of("k", "a\0"), LockKey.of("k", "a%00"), LockKey.of("k", "ä"),
				LockKey.of("k", "a\u0308"), LockKey.of("k", "\uD83D\uDD12"), LockKey.of("k", "\uD83D"),
				LockKey.of("k", "'; DROP TABLE distributed_lock; --"), LockKey.of("k", "\"a\""), LockKey.of("k", "a:b"),
				LockKey.of("k", "a", "b"), LockKey.of("k:a", "b"), LockKey.of("k", longText),
				LockKey.of("k", longText + "y"), LockKey.of("k", "y" + longText), LockKey.of("k", "\u0000".repeat(300)),
				LockKey.of("k", "\uD83D\uDD12".repeat(400)), LockKey.of("k", "x" + "\uD83D\uDD12".repeat(400)));
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (LockKey key : keys) {
			leases.put(acquire(this.provider, key, LEASE), LEASE);
		}
		for (LockKey key : keys) {
			busy(attempt(enter(this.other, key), false));
		}
		assertThat(renew(this.provider, leases).values()).containsOnly(RenewalOutcome.RENEWED).hasSize(keys.size());
		for (LockGrant grant : leases.keySet()) {
			assertThat(release(this.provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		}
	}

	@Test
	void prefixesSeparateApplications() {
		JdbcLockProvider prefixed = provider(pool(TIMEOUT), JdbcLockSettings.defaults("app:orders"));
		acquire(this.provider, LockKey.of("orders", "1"), LEASE);
		acquire(prefixed, LockKey.of("1"), LEASE);
	}

	@Test
	void missingTableIsReportedWithItsScript() {
		this.jdbc.execute("DROP TABLE distributed_lock");
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> acquire(this.provider, KEY, LEASE))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_MISSING))
			.withMessageContaining("CREATE TABLE")
			.withCauseInstanceOf(SQLException.class);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.provider.check(TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_MISSING))
			.satisfies((ex) -> assertThat(ex.action()).contains("CREATE TABLE"));
		this.jdbc.execute("CREATE TABLE distributed_lock (lock_key VARCHAR(10) PRIMARY KEY)");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.provider.check(TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.TABLE_MISSING));
	}

	@Test
	void newerFormatIsRefused() {
		this.provider.check(TIMEOUT);
		this.jdbc.update("UPDATE distributed_lock SET grant_order = 3 WHERE holder IS NULL");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.provider.check(TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NEWER_FORMAT));
		this.jdbc.update("DELETE FROM distributed_lock");
		this.provider.check(TIMEOUT);
	}

	@Test
	void schemaScriptCanRunAgain() {
		TestDatabases.withTable(this.database);
		assertThat(this.jdbc.queryForObject("SELECT count(*) FROM distributed_lock", Long.class)).isEqualTo(1);
	}

	@Test
	void lockedRowOfAFreeLockIsAFailure() throws Exception {
		JdbcLockProvider impatient = process(impatience());
		LockGrant grant = acquire(this.provider, KEY, LEASE);
		release(this.provider, grant);
		try (Connection connection = this.database.getConnection()) {
			TestDatabases.begin(connection);
			try (var statement = connection.createStatement()) {
				statement.executeQuery("SELECT owner FROM distributed_lock WHERE holder IS NOT NULL FOR UPDATE");
			}
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> attempt(enter(impatient, KEY), true))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT))
				.withMessageContaining("locked by another transaction");
			connection.rollback();
		}
		acquire(this.other, KEY, LEASE);
	}

	@Test
	void lockedRowOfAHeldLockIsBusy() throws Exception {
		JdbcLockProvider impatient = process(impatience());
		LockGrant grant = acquire(impatient, KEY, LEASE);
		try (Connection connection = lockRow(grant)) {
			long begun = System.nanoTime();
			assertThat(busy(attempt(enter(impatient, KEY), true)).holder()).isNotNull();
			assertImpatient(begun);
			assertThat(release(impatient, grant)).isEqualTo(ReleaseOutcome.UNKNOWN);
			connection.rollback();
		}
		assertThat(releaseForCertain(impatient, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

}
