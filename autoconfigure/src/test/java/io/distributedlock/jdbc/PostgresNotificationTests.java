package io.distributedlock.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.util.StringUtils;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class PostgresNotificationTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** For a listener whose first try fails: it pauses for half a minute. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** The longest pause between two polls, with a margin for a slow machine. */
	private static final Duration POLLED = Duration.ofMillis(250 + 250);

	/** How many hand-overs without a poll have to be seen. */
	private static final int FEW = 8;

	private static final String WARNING = "Contenders for locks poll the database";

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>();

	private final DataSource database = TestDatabases.withTable(TestDatabases.postgres());

	private final JdbcTemplate jdbc = new JdbcTemplate(this.database);

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
		this.threads.shutdownNow();
		this.timer.close();
	}

	private JdbcLockProvider provider(LockDataSource connections) {
		JdbcLockProvider provider = new JdbcLockProvider(connections, JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		return provider;
	}

	/** Creates a provider that has opened its first connection. */
	private JdbcLockProvider provider() {
		JdbcLockProvider provider = provider(pool());
		TestDatabases.warmUp(provider);
		return provider;
	}

	private LockDataSource pool() {
		String url = this.jdbc.execute((Connection connection) -> connection.getMetaData().getURL());
		return LockDataSource.connect(url, "postgres", "", null, LockDataSource.DEFAULT_SIZE, Duration.ofSeconds(1));
	}

	private LockTemplate locks(JdbcLockProvider provider) {
		LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(), List.of());
		this.resources.add(locks);
		return locks;
	}

	private static AttemptResult attempt(LockContender contender) {
		return resultOf(contender.attempt(OwnerId.random(), LEASE, true, TIMEOUT));
	}

	/** Waits for an event of the listener, for which a contender stays active. */
	private static void awaitEvent(LockContender contender, Callable<Boolean> event) {
		await().atMost(PATIENCE).until(() -> {
			assertThat(attempt(contender)).isInstanceOf(AttemptResult.Busy.class);
			return event.call();
		});
	}

	/** Hands a lock over until the listener of the waiting process has begun. */
	private void awaitListening(LockTemplate from, LockTemplate to, JdbcLockProvider waiting) {
		await().atMost(PATIENCE).until(() -> {
			handOver(from, to, waiting);
			return waiting.listener().isReceiving();
		});
	}

	private LockContender holdAndEnqueue(JdbcLockProvider waiting, Runnable changed) {
		assertThat(attempt(provider().newContender(KEY, () -> {
		}))).isInstanceOf(AttemptResult.Granted.class);
		LockContender contender = waiting.newContender(KEY, changed);
		assertThat(attempt(contender)).isInstanceOf(AttemptResult.Busy.class);
		return contender;
	}

	/** Returns the time from a release to the grant of the contender. */
	private Duration handOver(LockTemplate from, LockTemplate to, JdbcLockProvider waiting) {
		LockRequest request = LockRequest.of(KEY).withWaitTime(TIMEOUT);
		LockLease held = from.acquire(request);
		CompletableFuture<Long> got = CompletableFuture.supplyAsync(() -> {
			try (LockLease lease = to.acquire(request)) {
				lease.ensureHeld();
				return System.nanoTime();
			}
		}, this.threads);
		await().pollInterval(Duration.ofMillis(2))
			.until(() -> waiting.listener().contenders() == 1 && this.jdbc.queryForObject(
					"SELECT count(*) FROM distributed_lock WHERE first_waiter_until > extract(epoch FROM clock_timestamp()) * 1000000",
					Long.class) > 0);
		long released = System.nanoTime();
		held.close();
		Duration took = Duration.ofNanos(got.orTimeout(10, TimeUnit.SECONDS).join() - released);
		assertThat(waiting.listener().contenders()).isZero();
		return took;
	}

	private int terminateListeners() {
		Integer terminated = this.jdbc.queryForObject("""
				SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE query LIKE 'LISTEN%' AND datname = current_database()""", Integer.class);
		return (terminated != null) ? terminated : 0;
	}

	@Test
	void contenderIsNotifiedOfARelease() {
		JdbcLockProvider waiting = provider();
		LockTemplate from = locks(provider());
		LockTemplate to = locks(waiting);
		awaitListening(from, to, waiting);
		// Polls would be slow in each series, a loaded machine is not.
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(medianHandOver(from, to, waiting)).isLessThan(Duration.ofMillis(200)));
	}

	private Duration medianHandOver(LockTemplate from, LockTemplate to, JdbcLockProvider waiting) {
		List<Duration> took = new ArrayList<>();
		for (int round = 0; round < 60; round++) {
			took.add(handOver(from, to, waiting));
		}
		Collections.sort(took);
		Duration median = took.get(took.size() / 2);
		LogFactory.getLog(getClass())
			.info("Hand-over between processes: p50 " + median.toNanos() / 1000 + " µs, most "
					+ took.get(took.size() - 1).toNanos() / 1000 + " µs");
		return median;
	}

	@Test
	void notifiedContenderPollsOnceASecond() {
		JdbcLockProvider waiting = provider();
		LockContender contender = holdAndEnqueue(waiting, () -> {
		});
		awaitEvent(contender, waiting.listener()::isReceiving);
		assertThat(((AttemptResult.Busy) attempt(contender)).retryAfter()).isBetween(Duration.ofMillis(790),
				Duration.ofSeconds(1));
	}

	@Test
	void noStatementRunsWithoutContenders() throws Exception {
		CountingDataSource counting = new CountingDataSource(this.database);
		JdbcLockProvider waiting = provider(LockDataSource.of(counting, 8));
		LockTemplate from = locks(provider());
		LockTemplate to = locks(waiting);
		awaitListening(from, to, waiting);
		handOver(from, to, waiting);
		// A call that was late on a slow machine is repeated.
		await().during(Duration.ofSeconds(1)).atMost(PATIENCE).until(() -> counting.resetCount() == 0);
		try (LockLease lease = to.acquire(LockRequest.of(KEY))) {
			assertThat(counting.resetCount()).isEqualTo(1);
			await().pollDelay(Duration.ofSeconds(2)).until(lease::isHeld);
			assertThat(counting.resetCount()).isZero();
		}
		// The release may outlast the call time-out on a slow machine.
		await().until(() -> counting.resetCount() == 1);
	}

	@Test
	void lostConnectionsCostAtMostOnePoll() throws Exception {
		JdbcLockProvider waiting = provider();
		LockTemplate from = locks(provider());
		LockTemplate to = locks(waiting);
		AtomicInteger terminations = new AtomicInteger();
		try (AutoCloseable terminating = terminating(terminations)) {
			int early = 0;
			int late = 0;
			for (int round = 0; round < 15 || (early < FEW && round < 150); round++) {
				Duration elapsed = handOver(from, to, waiting);
				early += (elapsed.compareTo(POLLED) < 0) ? 1 : 0;
				late += (elapsed.compareTo(TimeBounds.withLoad(POLLED)) > 0) ? 1 : 0;
			}
			assertThat(early).as("hand-overs without a poll").isGreaterThanOrEqualTo(FEW);
			// As a machine that stalls makes some.
			assertThat(late).as("hand-overs with more than a poll").isLessThanOrEqualTo(2);
		}
		assertThat(terminations).hasPositiveValue();
	}

	private AutoCloseable terminating(AtomicInteger terminations) {
		var terminator = Executors.newSingleThreadScheduledExecutor();
		terminator.scheduleWithFixedDelay(() -> terminations.addAndGet(terminateListeners()), 0, 20,
				TimeUnit.MILLISECONDS);
		return () -> {
			terminator.shutdown();
			assertThat(terminator.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
		};
	}

	@Test
	void contendersPollWhenListeningEndsAndRestarts() {
		AtomicInteger changes = new AtomicInteger();
		JdbcLockProvider waiting = provider();
		LockContender contender = holdAndEnqueue(waiting, changes::incrementAndGet);
		awaitEvent(contender, () -> changes.get() == 1);
		assertThat(waiting.listener().isReceiving()).isTrue();
		assertThat(terminateListeners()).isEqualTo(1);
		awaitEvent(contender, () -> changes.get() >= 3 && waiting.listener().isReceiving());
		resultOf(contender.withdraw(TIMEOUT));
		assertThat(waiting.listener().contenders()).isZero();
	}

	@Test
	void closedContenderIsForgottenAlsoWithoutAWithdrawal() {
		JdbcLockProvider waiting = provider();
		LockContender contender = holdAndEnqueue(waiting, () -> {
		});
		assertThat(waiting.listener().contenders()).isEqualTo(1);
		contender.close();
		assertThat(waiting.listener().contenders()).isZero();
	}

	@Test
	void refusedListenerIsLoggedOnceAndPollingWorks(CapturedOutput output) {
		int begin = output.getAll().length();
		AtomicInteger refused = new AtomicInteger();
		JdbcLockProvider waiting = provider(LockDataSource.of(forListener((connection) -> {
			refused.incrementAndGet();
			return null;
		}), 8));
		LockContender contender = holdAndEnqueue(waiting, () -> {
		});
		awaitEvent(contender, () -> refused.get() > 4);
		assertThat(StringUtils.countOccurrencesOf(output.getAll().substring(begin), WARNING)).isEqualTo(1);
		assertThat(waiting.listener().isReceiving()).isFalse();
		this.jdbc.update("DELETE FROM distributed_lock WHERE holder IS NOT NULL");
		awaitPolledHandOver(waiting);
	}

	/** Hands a lock over by a poll, again if the machine stalls meanwhile. */
	private void awaitPolledHandOver(JdbcLockProvider waiting) {
		LockTemplate from = locks(provider());
		LockTemplate to = locks(waiting);
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(handOver(from, to, waiting)).isLessThan(TimeBounds.withLoad(POLLED)));
	}

	@Test
	void poolerThatSwallowsNotificationsIsLoggedOnce(CapturedOutput output) {
		int begin = output.getAll().length();
		JdbcLockProvider waiting = provider(
				LockDataSource.of(forListener(PostgresNotificationTests::withoutListening), 8));
		LockContender contender = holdAndEnqueue(waiting, () -> {
		});
		awaitEvent(contender, () -> output.getAll().substring(begin).contains(WARNING));
		assertThat(output.getAll().substring(begin)).contains("notifications of PostgreSQL do not arrive");
		assertThat(((AttemptResult.Busy) attempt(contender)).retryAfter()).isLessThanOrEqualTo(Duration.ofMillis(250));
		this.jdbc.update("DELETE FROM distributed_lock WHERE holder IS NOT NULL");
		for (int round = 0; round < 5; round++) {
			awaitPolledHandOver(waiting);
		}
		assertThat(StringUtils.countOccurrencesOf(output.getAll().substring(begin), WARNING)).isEqualTo(1);
	}

	private DataSource forListener(UnaryOperator<Connection> change) {
		return new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = PostgresNotificationTests.this.database.getConnection();
				if (!Thread.currentThread().getName().contains("jdbc-listener")) {
					return connection;
				}
				Connection changed = change.apply(connection);
				if (changed == null) {
					connection.close();
					throw new SQLException("No more connections for this role", "53300");
				}
				return changed;
			}

			@Override
			public Connection getConnection(String username, String password) {
				throw new UnsupportedOperationException();
			}

		};
	}

	private static Connection withoutListening(Connection connection) {
		return proxy(Connection.class, connection, (statement) -> proxy(Statement.class, (Statement) statement,
				UnaryOperator.identity(), "execute", false), "createStatement", null);
	}

	private static <T> T proxy(Class<T> type, T target, UnaryOperator<Object> change, String method, Object instead) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, called, arguments) -> {
				if (called.getName().equals(method) && instead != null) {
					return instead;
				}
				try {
					Object result = called.invoke(target, arguments);
					return called.getName().equals(method) ? change.apply(result) : result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

}
