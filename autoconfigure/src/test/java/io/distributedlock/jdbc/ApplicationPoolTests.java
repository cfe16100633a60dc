package io.distributedlock.jdbc;

import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.H2Dialect;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault.Effect;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Connections of a pool that is not the locks' own and has other settings. */
@Tag("full")
class ApplicationPoolTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final LockKey KEY = LockKey.of("shared");

	private final LockTimer timer = new LockTimer();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private JdbcLockProvider provider(DataSource pool) {
		return provider(pool, 8);
	}

	private JdbcLockProvider provider(DataSource pool, int size) {
		return new JdbcLockProvider(LockDataSource.of(pool, size), JdbcLockSettings.defaults("application"),
				this.timer);
	}

	private static AttemptResult attempt(JdbcLockProvider provider, boolean willWait) {
		return resultOf(provider.newContender(KEY, () -> {
		}).attempt(OwnerId.random(), LEASE, willWait, TIMEOUT));
	}

	private static LockGrant acquire(JdbcLockProvider provider) {
		return ((AttemptResult.Granted) attempt(provider, false)).grant();
	}

	@Test
	void connectionLostDuringAdaptationBlocksNoRenewal() {
		String url = TestDatabases.url(TestDatabases.withTable(TestDatabases.mariaDb()));
		URI address = URI.create(url.substring("jdbc:".length()));
		try (TcpProxy proxy = new TcpProxy(new InetSocketAddress(address.getHost(), address.getPort()))) {
			HikariConfig config = new HikariConfig();
			config.setJdbcUrl("jdbc:mariadb://localhost:" + proxy.port() + address.getPath() + "?connectTimeout=250");
			config.setUsername(TestDatabases.user(url));
			config.setMaximumPoolSize(8);
			config.setInitializationFailTimeout(PATIENCE.toMillis());
			try (HikariDataSource pool = new HikariDataSource(config); JdbcLockProvider provider = provider(pool)) {
				LockGrant grant = acquire(provider);
				Map<LockGrant, Duration> leases = Map.of(grant, LEASE);
				for (int lost = 0; lost < 4; lost++) {
					proxy.onRequest(ApplicationPoolTests::setsIsolation, Effect.BLACK_HOLE).once();
					assertThatExceptionOfType(LockProviderException.class)
						.isThrownBy(() -> resultOf(provider.renew(leases, Duration.ofMillis(300))));
				}
				await().atMost(PATIENCE)
					.ignoreExceptions()
					.untilAsserted(() -> assertThat(resultOf(provider.renew(leases, Duration.ofSeconds(1))))
						.containsEntry(grant, RenewalOutcome.RENEWED));
				assertThat(resultOf(provider.release(KEY, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
			}
		}
	}

	private static boolean setsIsolation(byte[] packet) {
		return new String(packet, StandardCharsets.ISO_8859_1).toUpperCase().contains("ISOLATION LEVEL READ COMMITTED");
	}

	@Test
	void connectionIsReturnedWithItsOwnSettings() throws SQLException {
		DataSource database = TestDatabases.withTable(TestDatabases.mariaDb());
		try (Connection connection = database.getConnection()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			try (JdbcLockProvider provider = provider(new SingleConnectionDataSource(connection, true), 1)) {
				LockGrant grant = acquire(provider);
				assertThat(resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT))).containsEntry(grant,
						RenewalOutcome.RENEWED);
				assertThat(resultOf(provider.release(KEY, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
			}
			// The sweeper may still use the connection.
			await().untilAsserted(() -> assertThat(connection.getAutoCommit()).isFalse());
			assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
			connection.rollback();
		}
	}

	/** Without the adapter the database would refuse the connection. */
	@Test
	void wrapperThatGivesTheCredentialsIsKept() {
		DataSource server = TestDatabases.withTable(TestDatabases.h2Server());
		UserCredentialsDataSourceAdapter application = new UserCredentialsDataSourceAdapter();
		application.setTargetDataSource(new DriverManagerDataSource(TestDatabases.url(server)));
		TestDatabases.execute(server, "ALTER USER sa SET PASSWORD 'secret'");
		application.setUsername("sa");
		application.setPassword("secret");
		for (DataSource wrapped : List.of(application, new TransactionAwareDataSourceProxy(application),
				new DelegatingDataSource(application))) {
			try (JdbcLockProvider provider = provider(wrapped)) {
				provider.check(TIMEOUT);
			}
		}
	}

	@Test
	void connectionThatCouldOnlyBeAdaptedInPartGetsItsSettingsBack() throws SQLException {
		try (Connection connection = TestDatabases.h2().getConnection()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			Connection failing = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("setAutoCommit") && (boolean) arguments[0]) {
							throw new SQLException("refused");
						}
						return method.invoke(connection, arguments);
					});
			try (ConnectionSource connections = LockDataSource.of(new SingleConnectionDataSource(failing, true), 1)
				.connections()) {
				Connection borrowed = connections.borrow(Deadline.after(PATIENCE));
				assertThatExceptionOfType(SQLException.class).isThrownBy(
						() -> connections.run(borrowed, new H2Dialect("distributed_lock"), 0, (any, dialect) -> true));
			}
			assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
		}
	}

	@Test
	void listenerReceivesOverAPoolWithoutAutoCommit() {
		HikariConfig config = new HikariConfig();
		config.setDataSource(TestDatabases.withTable(TestDatabases.postgres()));
		config.setAutoCommit(false);
		try (HikariDataSource pool = new HikariDataSource(config);
				JdbcLockProvider holder = provider(pool);
				JdbcLockProvider waiting = provider(pool)) {
			acquire(holder);
			await().atMost(PATIENCE).untilAsserted(() -> {
				assertThat(attempt(waiting, true)).isInstanceOf(AttemptResult.Busy.class);
				assertThat(waiting.listener().isReceiving()).isTrue();
			});
		}
	}

	@Test
	void callThatFindsNoConnectionWasNotSent() throws Exception {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		HikariConfig config = new HikariConfig();
		config.setDataSource(database);
		config.setMaximumPoolSize(8);
		ExecutorService callers = Executors.newFixedThreadPool(6);
		try (HikariDataSource pool = new HikariDataSource(config);
				JdbcLockProvider provider = provider(pool);
				Connection blocker = database.getConnection()) {
			TestDatabases.warmUp(provider);
			TestDatabases.begin(blocker);
			new JdbcTemplate(new SingleConnectionDataSource(blocker, true))
				.execute("LOCK TABLE distributed_lock IN ACCESS EXCLUSIVE MODE");
			for (int call = 0; call < 6; call++) {
				callers.execute(() -> attempt(provider, false));
			}
			JdbcTemplate other = new JdbcTemplate(database);
			await().atMost(PATIENCE)
				.until(() -> other.queryForObject("SELECT count(*) FROM pg_locks WHERE NOT granted", Long.class) >= 6);
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> resultOf(provider.newContender(KEY, () -> {
				}).attempt(OwnerId.random(), LEASE, false, Duration.ofMillis(300))))
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse())
				.withMessageContaining("none of its 8 connections free");
			blocker.rollback();
		}
		finally {
			callers.shutdown();
		}
	}

	/** Hikari restores it by itself. */
	@Test
	void boundOfReadsIsRestored() throws SQLException {
		DataSource database = TestDatabases.withTable(TestDatabases.mariaDb());
		try (Connection connection = database.getConnection();
				JdbcLockProvider provider = provider(new SingleConnectionDataSource(connection, true), 1)) {
			TestDatabases.warmUp(provider);
			for (int call = 0; call < 3; call++) {
				assertThat(resultOf(provider.release(KEY, OwnerId.random(), TIMEOUT)))
					.isEqualTo(ReleaseOutcome.NOT_HELD);
				// A worker restores it after the caller has its answer.
				await().atMost(PATIENCE).until(() -> connection.getNetworkTimeout() == 0);
			}
		}
	}

}
