package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.provider.StoredLock;
import io.distributedlock.testkit.StoreCalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests of shares in a table of their own. */
class ShareRowsTests {

	private static final int PROCESSES = 4;

	private static final Duration TIME = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final LockKey KEY = LockKey.of("key");

	private final LockTimer timer = new LockTimer();

	private final List<JdbcLockProvider> processes = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.processes.forEach(JdbcLockProvider::close);
		this.timer.close();
	}

	private JdbcLockProvider process(DataSource database) {
		String url = TestDatabases.url(database);
		return process(LockDataSource.connect(url, TestDatabases.user(url), "", null, 4, TIMEOUT));
	}

	private JdbcLockProvider process(LockDataSource connections) {
		JdbcLockProvider process = new JdbcLockProvider(connections, JdbcLockSettings.defaults("app"), this.timer);
		this.processes.add(process);
		TestDatabases.warmUp(process);
		return process;
	}

	private static LockContender contender(JdbcLockProvider process, LockKey key, int limit) {
		return (limit > 0) ? process.newShareContender(key, limit, () -> {
		}) : process.newContender(key, () -> {
		});
	}

	private static AttemptResult attempt(LockContender contender, boolean share, boolean willWait) {
		return answer(contender.attempt(OwnerId.random().ofShare(share), LEASE, willWait, TIMEOUT));
	}

	private static LockGrant acquire(JdbcLockProvider process, int limit) {
		return ((AttemptResult.Granted) attempt(contender(process, KEY, limit), limit > 0, false)).grant();
	}

	private static <T> T answer(StoreCall<T> call) {
		return StoreCalls.resultOf(call, TIMEOUT);
	}

	private static ReleaseOutcome release(JdbcLockProvider process, LockGrant grant) {
		return answer(process.release(grant.key(), grant.owner(), Duration.ZERO, TIMEOUT));
	}

	/**
	 * Several processes contend without a pause for two keys: one with readers, one with
	 * permits.
	 */
	@Tag("full")
	@ParameterizedTest
	@EnumSource
	void sharesNeverExceedTheirLimitOrMeetAnExclusiveGrant(Store store) throws Exception {
		DataSource database = TestDatabases.withTable(store.fresh.get());
		List<Contention> contentions = List.of(new Contention(LockKey.of("readers"), Integer.MAX_VALUE),
				new Contention(LockKey.of("permits"), 2));
		List<Future<Integer>> grants = new ArrayList<>();
		Deadline end = Deadline.after(TIME);
		for (int number = 0; number < PROCESSES; number++) {
			JdbcLockProvider process = process(database);
			for (Contention contention : contentions) {
				grants.add(this.threads.submit(() -> contention.contend(process, 0, end)));
				grants.add(this.threads.submit(() -> contention.contend(process, contention.limit, end)));
			}
		}
		for (Future<Integer> count : grants) {
			assertThat(count.get(2, TimeUnit.MINUTES)).isPositive();
		}
		assertThat(contentions).allSatisfy((contention) -> {
			assertThat(contention.writers).hasValue(0);
			assertThat(contention.shares).hasValue(0);
		});
		JdbcTemplate jdbc = new JdbcTemplate(database);
		assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM distributed_lock_share", Integer.class)).isZero();
		assertThat(
				jdbc.queryForObject("SELECT COUNT(*) FROM distributed_lock WHERE owner LIKE 'shared%'", Integer.class))
			.isZero();
	}

	/** What docs/jdbc.md tells. */
	@ParameterizedTest
	@EnumSource
	void shareCostsFewStatements(Store store) {
		CountingDataSource counting = new CountingDataSource(TestDatabases.withTable(store.fresh.get()));
		JdbcLockProvider process = process(LockDataSource.of(counting, 2));
		release(process, acquire(process, 0));
		int step = (store == Store.MARIADB || store == Store.MYSQL) ? 6 : 5;
		counting.resetCount();
		LockGrant first = acquire(process, 5);
		assertThat(counting.resetCount()).isEqualTo(step);
		LockGrant second = acquire(process, 5);
		assertThat(counting.resetCount()).isEqualTo(step);
		answer(process.renew(Map.of(first, LEASE, second, LEASE), TIMEOUT));
		assertThat(counting.resetCount()).isEqualTo(step);
		for (LockGrant share : List.of(second, first)) {
			release(process, share);
			assertThat(counting.resetCount()).isEqualTo(step);
		}
		release(process, acquire(process, 0));
		assertThat(counting.resetCount()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void manySharesAreRenewedInOneBatch(Store store) throws Exception {
		JdbcLockProvider process = process(TestDatabases.withTable(store.fresh.get()));
		List<LockGrant> grants = new ArrayList<>();
		for (int number = 0; number < 20; number++) {
			LockContender contender = contender(process, LockKey.of("key" + number % 5), (number < 18) ? 10 : 0);
			if (attempt(contender, number < 18, false) instanceof AttemptResult.Granted granted) {
				grants.add(granted.grant());
			}
		}
		assertThat(grants).hasSize(18);
		LockGrant released = grants.get(7);
		release(process, released);
		Map<LockGrant, Duration> leases = new HashMap<>();
		grants.forEach((grant) -> leases.put(grant, Duration.ofMinutes(2)));
		Map<LockGrant, RenewalOutcome> outcomes = answer(process.renew(leases, TIMEOUT));
		assertThat(outcomes).hasSize(18)
			.allSatisfy((grant, outcome) -> assertThat(outcome)
				.isEqualTo((grant == released) ? RenewalOutcome.NOT_HELD : RenewalOutcome.RENEWED));
		assertThat(process.find(LockKey.of("key1"), TIMEOUT).orElseThrow().holder().remaining())
			.isGreaterThan(Duration.ofSeconds(90));
	}

	@ParameterizedTest
	@EnumSource
	void shorterShareDoesNotEndALongerOne(Store store) {
		JdbcLockProvider process = process(TestDatabases.withTable(store.fresh.get()));
		LockGrant longer = acquire(process, 5);
		answer(contender(process, KEY, 5).attempt(OwnerId.random().ofShare(true), Duration.ofMillis(50), false,
				TIMEOUT));
		await().atMost(PATIENCE).until(() -> process.findAll(KEY, TIMEOUT).size() == 1);
		assertThat(attempt(contender(process, KEY, 0), false, false)).isInstanceOf(AttemptResult.Busy.class);
		assertThat(release(process, longer)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	/** MySQL would scan a table of which it needs most rows. */
	@ParameterizedTest
	@EnumSource
	void renewalWaitsForNoRowOfAnotherKey(Store store) throws Exception {
		DataSource database = TestDatabases.withTable(store.fresh.get());
		JdbcLockProvider process = process(database);
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (int number = 0; number < 30; number++) {
			LockContender contender = contender(process, LockKey.of("key" + number), 5);
			leases.put(((AttemptResult.Granted) attempt(contender, true, false)).grant(), LEASE);
		}
		try (Connection other = database.getConnection()) {
			TestDatabases.begin(other);
			try (Statement statement = other.createStatement()) {
				statement.execute("UPDATE distributed_lock SET acquired_at = 0 WHERE grant_order < 1000");
			}
			assertThat(answer(process.renew(leases, TIMEOUT))).hasSize(30)
				.allSatisfy((grant, outcome) -> assertThat(outcome).isEqualTo(RenewalOutcome.RENEWED));
			other.rollback();
		}
	}

	@ParameterizedTest
	@EnumSource
	void operatorsSeeEachShareAndReleaseOne(Store store) {
		DataSource database = TestDatabases.withTable(store.fresh.get());
		JdbcLockProvider process = process(database);
		LockGrant first = acquire(process, 5);
		LockGrant second = acquire(process, 5);
		List<StoredLock> found = process.findAll(KEY, TIMEOUT);
		assertThat(found).extracting(StoredLock::owner).containsExactly(first.owner(), second.owner());
		assertThat(found).extracting(StoredLock::order).containsExactly(first.order(), second.order());
		assertThat(process.list(10, TIMEOUT).orElseThrow()).extracting(StoredLock::owner)
			.containsExactly(first.owner(), second.owner());
		assertThat(process(database).forceRelease(KEY, found.get(1), TIMEOUT)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(process.findAll(KEY, TIMEOUT)).extracting(StoredLock::owner).containsExactly(first.owner());
		assertThat(release(process, second)).isEqualTo(ReleaseOutcome.NOT_HELD);
		assertThat(release(process, first)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(process.findAll(KEY, TIMEOUT)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void missingTableOfSharesFailsSharesAlone(Store store) throws Exception {
		DataSource database = TestDatabases.withTable(store.fresh.get());
		TestDatabases.execute(database, "DROP TABLE distributed_lock_share");
		JdbcLockProvider process = process(database);
		assertThatThrownBy(() -> acquire(process, 5)).isInstanceOfSatisfying(LockProviderException.class, (ex) -> {
			assertThat(ex.error()).isEqualTo(LockError.TABLE_MISSING);
			assertThat(ex).hasMessageContaining("CREATE TABLE IF NOT EXISTS distributed_lock_share");
		});
		assertThat(release(process, acquire(process, 0))).isEqualTo(ReleaseOutcome.RELEASED);
		process.sweeper().run();
		TestDatabases.withTable(database);
		insertEnded(database, 1);
		for (int sweep = 0; sweep < 11; sweep++) {
			process.sweeper().run();
		}
		assertThat(shares(database)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void endedSharesAreSwept(Store store) throws Exception {
		DataSource database = TestDatabases.withTable(store.fresh.get());
		JdbcLockProvider process = process(database);
		LockGrant live = acquire(process, 5);
		insertEnded(database, 250);
		try (Connection other = database.getConnection()) {
			TestDatabases.begin(other);
			try (Statement statement = other.createStatement()) {
				statement.execute("UPDATE distributed_lock_share SET acquired_at = 1 WHERE owner = 'ended7'");
			}
			process.sweeper().run();
			assertThat(shares(database)).isEqualTo(2);
			other.rollback();
		}
		process.sweeper().run();
		assertThat(shares(database)).isOne();
		assertThat(release(process, live)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	/** In one connection, because a new one for each row would take most of the time. */
	private static void insertEnded(DataSource database, int number) throws SQLException {
		try (Connection connection = database.getConnection()) {
			JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
			for (int i = 0; i < number; i++) {
				jdbc.update("""
						INSERT INTO distributed_lock_share SELECT lock_key, ?, 1, 1, 1, NULL FROM distributed_lock
						WHERE lock_key = (SELECT MIN(lock_key) FROM distributed_lock)""", "ended" + i);
			}
		}
	}

	private static int shares(DataSource database) {
		return Objects.requireNonNull(new JdbcTemplate(database)
			.queryForObject("SELECT COUNT(*) FROM distributed_lock_share", Integer.class));
	}

	/** Threads of all processes at one key. */
	private static final class Contention {

		private final LockKey key;

		private final int limit;

		private final AtomicInteger writers = new AtomicInteger();

		private final AtomicInteger shares = new AtomicInteger();

		Contention(LockKey key, int limit) {
			this.key = key;
			this.limit = limit;
		}

		/** Contends until the end, and at least until it has had one grant. */
		int contend(JdbcLockProvider process, int shareLimit, Deadline end) {
			LockContender contender = contender(process, this.key, shareLimit);
			Deadline patience = Deadline.after(PATIENCE.plus(TIME));
			int grants = 0;
			while ((!end.isPast() || grants == 0) && !patience.isPast()) {
				AttemptResult result = attempt(contender, shareLimit > 0, true);
				if (result instanceof AttemptResult.Granted granted) {
					grants++;
					hold(shareLimit > 0);
					assertThat(release(process, granted.grant())).isEqualTo(ReleaseOutcome.RELEASED);
				}
				else if (result instanceof AttemptResult.Busy busy) {
					if (ThreadLocalRandom.current().nextInt(50) == 0) {
						answer(contender.withdraw(TIMEOUT));
						contender.close();
						contender = contender(process, this.key, shareLimit);
					}
					LockSupport.parkNanos(Math.min(busy.retryAfter().toNanos(), TimeUnit.MILLISECONDS.toNanos(20)));
				}
			}
			answer(contender.withdraw(TIMEOUT));
			contender.close();
			return grants;
		}

		private void hold(boolean share) {
			if (share) {
				assertThat(this.shares.incrementAndGet()).isLessThanOrEqualTo(this.limit);
				assertThat(this.writers).hasValue(0);
			}
			else {
				assertThat(this.writers.incrementAndGet()).isOne();
				assertThat(this.shares).hasValue(0);
			}
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(5_000_000));
			(share ? this.shares : this.writers).decrementAndGet();
		}

	}

	enum Store {

		H2(TestDatabases::h2), MARIADB(TestDatabases::mariaDb), MYSQL(TestDatabases::mySql),
		POSTGRESQL(TestDatabases::postgres);

		private final Supplier<DataSource> fresh;

		Store(Supplier<DataSource> fresh) {
			this.fresh = fresh;
		}

	}

}
