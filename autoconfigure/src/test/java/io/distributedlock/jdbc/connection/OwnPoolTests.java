package io.distributedlock.jdbc.connection;

import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.Deadline;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/** Loans of the locks' own pool. */
@Tag("full")
class OwnPoolTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static ConnectionSource connect(String url, String password) {
		return LockDataSource.connect(url, "postgres", password, null, 1, CALL_TIMEOUT).connections();
	}

	private static LockProviderException failureToBorrow(ConnectionSource connections, Duration patience) {
		return catchThrowableOfType(LockProviderException.class, () -> connections.borrow(Deadline.after(patience)));
	}

	/** The pool validates a connection that has not answered for 5 s. */
	private static void awaitIdle() {
		await().until(Deadline.after(Duration.ofMillis(5_100))::isPast);
	}

	@Test
	void loanEndsInHalfOfACallThoughTheIdleConnectionIsDead() throws Exception {
		PGSimpleDataSource database = TestDatabases.postgres();
		try (TcpProxy proxy = new TcpProxy(new InetSocketAddress("localhost", database.getPortNumbers()[0]));
				ConnectionSource connections = connect(
						"jdbc:postgresql://localhost:" + proxy.port() + "/" + database.getDatabaseName(), "")) {
			connections.close(connections.borrow(Deadline.after(PATIENCE)));
			awaitIdle();
			Duration half = CALL_TIMEOUT.dividedBy(2);
			await().until(() -> connections.canBorrowBefore(Deadline.after(half.plusMillis(200))));
			assertThat(connections.canBorrowBefore(Deadline.after(half.minusMillis(10)))).isFalse();
			try (WireFault fault = proxy.blackHole()) {
				long start = System.nanoTime();
				LockProviderException ex = failureToBorrow(connections, half);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(2750));
				assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT);
				assertThat(ex.isEffectUnknown()).isFalse();
			}
		}
	}

	/** The time-out of {@link Connection#isValid} counts whole seconds. */
	@Test
	void validationIsBoundedByMilliseconds() throws Exception {
		List<String> calls = new CopyOnWriteArrayList<>();
		HikariConfig config = new HikariConfig();
		config.setDataSource(recording(TestDatabases.postgres(), calls));
		config.setMinimumIdle(0);
		config.setInitializationFailTimeout(-1);
		try (HikariDataSource application = new HikariDataSource(config);
				ConnectionSource connections = LockDataSource.derive(application, 1, CALL_TIMEOUT).connections()) {
			connections.close(connections.borrow(Deadline.after(PATIENCE)));
			awaitIdle();
			calls.clear();
			connections.close(connections.borrow(Deadline.after(PATIENCE)));
			assertThat(calls).containsSubsequence("setNetworkTimeout 250", "createStatement", "setNetworkTimeout 0")
				.doesNotContain("isValid");
		}
	}

	private static DataSource recording(DataSource target, List<String> calls) {
		return new DelegatingDataSource(target) {
			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							calls.add(method.getName()
									+ (method.getName().equals("setNetworkTimeout") ? " " + arguments[1] : ""));
							return method.invoke(connection, arguments);
						});
			}
		};
	}

	@Test
	void timeOutThatHasACauseIsATimeOut() {
		try (ConnectionSource connections = connect("jdbc:postgresql://localhost:1/none", "")) {
			// A pool that has not tried to connect yet is asked again.
			LockProviderException ex = failureToBorrow(connections, PATIENCE);
			assertThat(ex).hasMessageContaining("DL-302")
				.hasMessageContaining(": Connection to localhost:1 refused")
				.hasRootCauseInstanceOf(ConnectException.class);
			assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT);
			assertThat(ex.isEffectUnknown()).isFalse();
		}
	}

	@Test
	void refusedUserIsNoTimeOut() {
		String url = TestDatabases.url(TestDatabases.mariaDb());
		try (ConnectionSource connections = LockDataSource.connect(url, "nobody", "wrong", null, 1, CALL_TIMEOUT)
			.connections()) {
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(failureToBorrow(connections, CALL_TIMEOUT))
					.hasMessageContaining("Access denied for user 'nobody'")
					.extracting(LockProviderException::error)
					.isEqualTo(LockError.NOT_PERMITTED));
		}
	}

	@Test
	void connectionThatOpensSlowlyIsAwaited() throws SQLException {
		HikariConfig config = new HikariConfig();
		config.setDataSource(new DelegatingDataSource(TestDatabases.h2()) {
			@Override
			public Connection getConnection() throws SQLException {
				await().until(Deadline.after(Duration.ofMillis(700))::isPast);
				return super.getConnection();
			}
		});
		config.setInitializationFailTimeout(-1);
		config.setMinimumIdle(0);
		try (HikariDataSource application = new HikariDataSource(config);
				ConnectionSource connections = LockDataSource.derive(application, 1, CALL_TIMEOUT).connections();
				Connection connection = connections.borrow(Deadline.after(PATIENCE))) {
			assertThat(connection.isValid(5)).isTrue();
		}
	}

	@Test
	void threadFactoryOfTheApplicationIsUsed() {
		AtomicInteger started = new AtomicInteger();
		ThreadFactory factory = (task) -> {
			started.incrementAndGet();
			Thread thread = new Thread(task, "shop-pool");
			thread.setDaemon(true);
			return thread;
		};
		try (HikariDataSource application = new HikariDataSource()) {
			application.setDataSource(TestDatabases.h2());
			application.setThreadFactory(factory);
			try (ConnectionSource connections = LockDataSource.derive(application, 1, CALL_TIMEOUT).connections()) {
				connections.close(connections.borrow(Deadline.after(PATIENCE)));
				assertThat(started).hasPositiveValue();
			}
		}
	}

	@Test
	void customizedSizeAndTimeOutsCount() {
		try (HikariDataSource application = new HikariDataSource()) {
			application.setDataSource(TestDatabases.h2());
			try (ConnectionSource connections = LockDataSource.derive(application, 8, CALL_TIMEOUT, (config) -> {
				config.setMaximumPoolSize(3);
				config.setConnectionTimeout(20_000);
			}).connections()) {
				assertThat(connections.size()).isEqualTo(3);
				connections.close(connections.borrow(Deadline.after(PATIENCE)));
				assertThat(connections.canBorrowBefore(Deadline.after(Duration.ofSeconds(19)))).isFalse();
				assertThat(connections.canBorrowBefore(Deadline.after(PATIENCE))).isTrue();
			}
		}
	}

}
