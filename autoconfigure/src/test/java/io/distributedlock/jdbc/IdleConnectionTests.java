package io.distributedlock.jdbc;

import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Connections of the locks' own pool that are idle for longer than Hikari trusts them.
 */
@Tag("full")
class IdleConnectionTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);

	private static final int CONNECTIONS = 3;

	private static final int ROUNDS = 3;

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>(List.of(this.timer));

	@AfterEach
	void close() throws Exception {
		for (int i = this.resources.size() - 1; i >= 0; i--) {
			this.resources.get(i).close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockTakenOnceASecondCostsTwoRoundTrips(Database kind) {
		DataSource database = TestDatabases.withTable(kind.source.get());
		TcpProxy proxy = proxy(database);
		JdbcLockProvider provider = provider(database, proxy);
		// The driver prepares statements, and the pool opens a connection ahead.
		acquireAndRelease(provider);
		awaitIdle();
		acquireAndRelease(provider);
		WireFault requests = proxy.onRequest((packet) -> true, WireFault.Effect.DELAY);
		for (int round = 0; round < ROUNDS; round++) {
			awaitIdle();
			acquireAndRelease(provider);
		}
		assertThat(requests.hits()).isEqualTo(2 * ROUNDS);
	}

	@Test
	void lockTakenOnceASecondIsTakenInTheThreadOfItsCaller() {
		Set<Thread> threads = ConcurrentHashMap.newKeySet();
		try (HikariDataSource application = new HikariDataSource()) {
			application.setDataSource(recordingThreads(TestDatabases.withTable(TestDatabases.postgres()), threads));
			JdbcLockProvider provider = provider(LockDataSource.derive(application, CONNECTIONS, CALL_TIMEOUT));
			acquireAndRelease(provider);
			awaitIdle();
			threads.clear();
			acquireAndRelease(provider);
			assertThat(threads).containsExactly(Thread.currentThread());
		}
	}

	private static DataSource recordingThreads(DataSource target, Set<Thread> threads) {
		return new DelegatingDataSource(target) {
			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							if (method.getName().equals("prepareStatement")) {
								threads.add(Thread.currentThread());
							}
							return method.invoke(connection, arguments);
						});
			}
		};
	}

	@ParameterizedTest
	@EnumSource
	void oneAttemptFailsAfterTheServerHasEndedAllConnections(Database kind) throws Exception {
		DataSource database = TestDatabases.withTable(kind.source.get());
		TcpProxy proxy = proxy(database);
		JdbcLockProvider provider = provider(database, proxy);
		openSeveral(provider, proxy);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		List<Long> sessions = jdbc.queryForList(kind.all, Long.class);
		assertThat(sessions).hasSizeGreaterThan(1);
		sessions.forEach((session) -> jdbc.execute(kind.kill.formatted(session)));
		await().untilAsserted(
				() -> assertThat(jdbc.queryForList(kind.all, Long.class)).doesNotContainAnyElementsOf(sessions));
		awaitIdle();
		assertOneAttemptFails(provider);
	}

	@ParameterizedTest
	@EnumSource
	void oneAttemptFailsAfterTheNetworkHasCutAllConnections(Database kind) throws Exception {
		DataSource database = TestDatabases.withTable(kind.source.get());
		TcpProxy proxy = proxy(database);
		JdbcLockProvider provider = provider(database, proxy);
		openSeveral(provider, proxy);
		proxy.cutAll();
		awaitIdle();
		assertOneAttemptFails(provider);
	}

	/** The engine asks again with another owner id, as long as its request may wait. */
	private static void assertOneAttemptFails(JdbcLockProvider provider) {
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(provider))
			.satisfies((ex) -> assertThat(ex.isTransient()).isTrue())
			.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isTrue());
		acquireAndRelease(provider);
	}

	/** Uses the connections that releases may have at once. */
	private void openSeveral(JdbcLockProvider provider, TcpProxy proxy) throws Exception {
		List<FutureTask<ReleaseOutcome>> calls = new ArrayList<>();
		LockKey key = LockKey.of("released-at-once");
		// One whose call was answered would be used for the next.
		try (WireFault held = proxy.onReplyTo(
				(packet) -> new String(packet, StandardCharsets.ISO_8859_1).contains(key.name()),
				WireFault.Effect.HOLD)) {
			for (int call = 0; call < CONNECTIONS - 1; call++) {
				calls.add(new FutureTask<>(
						() -> resultOf(provider.release(key, OwnerId.random(), Duration.ZERO, CALL_TIMEOUT))));
				new Thread(calls.get(call)).start();
			}
			await().until(() -> held.hits() >= CONNECTIONS - 1);
		}
		for (FutureTask<ReleaseOutcome> call : calls) {
			assertThat(call.get()).isEqualTo(ReleaseOutcome.NOT_HELD);
		}
	}

	@ParameterizedTest
	@EnumSource
	void attemptEndsInTimeThoughTheServerIsSilent(Database kind) {
		DataSource database = TestDatabases.withTable(kind.source.get());
		TcpProxy proxy = proxy(database);
		JdbcLockProvider provider = provider(database, proxy);
		// A stalled machine is late in one round, a mistake in each.
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.untilAsserted(() -> assertAttemptEndsInTime(provider, proxy));
	}

	private static void assertAttemptEndsInTime(JdbcLockProvider provider, TcpProxy proxy) {
		acquireAndRelease(provider);
		awaitIdle();
		try (WireFault fault = proxy.blackHole()) {
			long start = System.nanoTime();
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> attempt(provider));
			assertThat(Duration.ofNanos(System.nanoTime() - start))
				.isLessThan(TimeBounds.withLoad(CALL_TIMEOUT.toMillis() + 300));
		}
	}

	/** Hikari trusts a connection for half a second. */
	private static void awaitIdle() {
		await().until(Deadline.after(Duration.ofMillis(600))::isPast);
	}

	private static void acquireAndRelease(JdbcLockProvider provider) {
		LockGrant grant = ((Granted) attempt(provider)).grant();
		assertThat(resultOf(provider.release(grant.key(), grant.owner(), Duration.ZERO, CALL_TIMEOUT)))
			.isEqualTo(ReleaseOutcome.RELEASED);
	}

	private static AttemptResult attempt(JdbcLockProvider provider) {
		return resultOf(provider.newContender(LockKey.of("idle"), () -> {
		}).attempt(OwnerId.random(), LEASE, false, CALL_TIMEOUT));
	}

	private TcpProxy proxy(DataSource database) {
		URI uri = URI.create(TestDatabases.url(database).replaceFirst("^jdbc:((mariadb|mysql):)?", ""));
		TcpProxy proxy = new TcpProxy(new InetSocketAddress(uri.getHost(), uri.getPort()));
		this.resources.add(proxy);
		return proxy;
	}

	private JdbcLockProvider provider(DataSource database, TcpProxy proxy) {
		String url = TestDatabases.url(database);
		return provider(LockDataSource.connect(url.replaceFirst("//[^/]+/", "//localhost:" + proxy.port() + "/"),
				TestDatabases.user(url), "", null, CONNECTIONS, CALL_TIMEOUT));
	}

	private JdbcLockProvider provider(LockDataSource connections) {
		JdbcLockProvider provider = new JdbcLockProvider(connections, JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		TestDatabases.warmUp(provider);
		return provider;
	}

	enum Database {

		POSTGRES(TestDatabases::postgres,
				"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
				"SELECT pg_terminate_backend(%d)"),
		MARIADB(TestDatabases::mariaDb, MySql.PROCESSES, MySql.KILL),
		MARIADB_WITH_MYSQL_DRIVER(TestDatabases::mariaDbWithMySqlDriver, MySql.PROCESSES, MySql.KILL),
		MYSQL(TestDatabases::mySql, MySql.PROCESSES, MySql.KILL);

		private final Supplier<DataSource> source;

		private final String all;

		private final String kill;

		Database(Supplier<DataSource> source, String all, String kill) {
			this.source = source;
			this.all = all;
			this.kill = kill;
		}

		private static final class MySql {

			private static final String PROCESSES = """
					SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()""";

			private static final String KILL = "KILL CONNECTION %d";

		}

	}

}
