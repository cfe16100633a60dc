package io.distributedlock.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The locks' own pool beside the application's pool from which it is derived. */
class DerivedPoolTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** Creates the application's pool, and changes the password of the database. */
	private static HikariDataSource application(String password) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(TestDatabases.url(TestDatabases.h2Server()));
		config.setUsername("sa");
		config.setPassword("");
		config.setMaximumPoolSize(1);
		HikariDataSource pool = new HikariDataSource(config);
		changePassword(pool, password);
		return pool;
	}

	private static void changePassword(HikariDataSource pool, String password) {
		TestDatabases.execute(pool, "ALTER USER sa SET PASSWORD '" + password + "'");
		pool.setCredentials(Credentials.of("sa", password));
	}

	/** Opens a connection, and not one that the pool has already. */
	private static void connect(LockDataSource derived) {
		ConnectionSource connections = derived.connections();
		connections.discard(connections.borrow(Deadline.after(PATIENCE)));
		// The pool may have tried the last password, which H2 punishes by a pause.
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
			Connection fresh = connections.borrow(Deadline.after(PATIENCE));
			boolean valid = fresh.isValid(5);
			connections.discard(fresh);
			return valid;
		});
	}

	@Test
	void applicationsPoolKeepsItsProperties() {
		try (HikariDataSource application = application("first");
				LockDataSource derived = LockDataSource.derive(application, 1, CALL_TIMEOUT)) {
			connect(derived);
			assertThat(application.getDataSourceProperties()).isEmpty();
			assertThat(application.getConnectionInitSql()).isNull();
		}
	}

	@Test
	void passwordThatWasChangedIsUsed() {
		try (HikariDataSource application = application("first");
				LockDataSource derived = LockDataSource.derive(application, 1, CALL_TIMEOUT)) {
			connect(derived);
			changePassword(application, "second");
			connect(derived);
		}
	}

	@Test
	void providerOfCredentialsIsAskedForEachConnection() {
		AtomicReference<String> password = new AtomicReference<>("first");
		try (HikariDataSource owner = application("first"); HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl(owner.getJdbcUrl());
			application.setCredentialsProvider(() -> Credentials.of("sa", password.get()));
			try (LockDataSource derived = LockDataSource.derive(application, 1, CALL_TIMEOUT)) {
				connect(derived);
				changePassword(owner, "second");
				password.set("second");
				connect(derived);
			}
		}
	}

	/** The application keeps a password that opens no connection any more. */
	@Test
	void credentialsOfACustomizerArePreferred() {
		try (HikariDataSource application = application("first")) {
			TestDatabases.execute(application, "ALTER USER sa SET PASSWORD 'second'");
			try (LockDataSource derived = LockDataSource.derive(application, 1, CALL_TIMEOUT,
					(config) -> config.setPassword("second"))) {
				connect(derived);
			}
		}
	}

	@Test
	void dataSourceThatRoutesByThreadIsRefused() {
		AbstractRoutingDataSource routing = routing(Map.of("a", TestDatabases.h2()), null);
		for (ThrowingCallable creation : List.<ThrowingCallable>of(() -> LockDataSource.of(routing, 1),
				() -> LockDataSource.of(new LazyConnectionDataSourceProxy(routing), 1),
				() -> LockDataSource.of(proxy(routing), 1),
				() -> LockDataSource.derive(new DelegatingDataSource(proxy(routing)), 1, CALL_TIMEOUT),
				() -> LockDataSource.derive(routing, 1, CALL_TIMEOUT))) {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(creation)
				.withMessageContaining("chooses a database for each thread")
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SEVERAL_PROVIDERS));
		}
	}

	@Test
	void ownPoolIsDerivedFromTheDefaultOfADataSourceThatRoutes() {
		try (HikariDataSource application = application("first");
				LockDataSource derived = LockDataSource.derive(routing(Map.of("a", TestDatabases.h2()), application), 1,
						CALL_TIMEOUT)) {
			connect(derived);
			assertThat(derived.connections().isOwn()).isTrue();
		}
	}

	/** A proxy as a library makes it that counts statements. */
	private static DataSource proxy(DataSource target) {
		return (DataSource) Proxy.newProxyInstance(DataSource.class.getClassLoader(),
				new Class<?>[] { DataSource.class }, (proxy, method, arguments) -> method.invoke(target, arguments));
	}

	private static AbstractRoutingDataSource routing(Map<Object, Object> targets, @Nullable DataSource fallback) {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
			@Override
			protected @Nullable Object determineCurrentLookupKey() {
				return null;
			}
		};
		routing.setTargetDataSources(targets);
		if (fallback != null) {
			routing.setDefaultTargetDataSource(fallback);
		}
		routing.afterPropertiesSet();
		return routing;
	}

	@Test
	void connectionOfAReplicaIsReplaced() throws Exception {
		PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());
		String name = database.getDatabaseName();
		TestDatabases.execute(database, "ALTER DATABASE " + name + " SET default_transaction_read_only = on");
		try (LockTimer timer = new LockTimer();
				LockDataSource connections = LockDataSource.connect(TestDatabases.url(database), "postgres", "", null,
						1, CALL_TIMEOUT);
				JdbcLockProvider provider = new JdbcLockProvider(connections, JdbcLockSettings.defaults("app"),
						timer)) {
			LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), timer, List.of(), List.of());
			LockRequest request = LockRequest.of(LockKey.of("replica")).withWaitTime(Duration.ZERO);
			await().atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> locks.acquire(request))
					.withMessageContaining("may only be read through this connection"));
			try (Connection connection = database.getConnection(); Statement statement = connection.createStatement()) {
				statement.execute("SET default_transaction_read_only = off");
				statement.execute("ALTER DATABASE " + name + " RESET default_transaction_read_only");
			}
			locks.acquire(request.withWaitTime(Duration.ofSeconds(10))).close();
			locks.close();
		}
	}

}
