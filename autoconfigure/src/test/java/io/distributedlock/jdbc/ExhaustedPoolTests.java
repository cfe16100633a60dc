package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locked methods that hold every connection of the application's pool.
 */
@Tag("full")
class ExhaustedPoolTests {

	private static final int THREADS = 8;

	@ParameterizedTest
	@ValueSource(strings = { "h2", "postgres", "mariadb" })
	void locksWorkWhileTheApplicationHoldsAllItsConnections(String database) throws Exception {
		HikariConfig config = new HikariConfig();
		config.setDataSource(TestDatabases.withTable(switch (database) {
			case "h2" -> TestDatabases.h2();
			case "postgres" -> TestDatabases.postgres();
			default -> TestDatabases.mariaDb();
		}));
		config.setMaximumPoolSize(2);
		config.setAutoCommit(false);
		config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		try (HikariDataSource application = new HikariDataSource(config); LockTimer timer = new LockTimer()) {
			JdbcLockProvider provider = new JdbcLockProvider(
					LockDataSource.derive(application, LockDataSource.DEFAULT_SIZE, Duration.ofSeconds(1)),
					JdbcLockSettings.defaults("exhausted"), timer);
			TestDatabases.warmUp(provider);
			LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), timer, List.of(), List.of());
			AtomicInteger done = new AtomicInteger();
			ExecutorService threads = Executors.newFixedThreadPool(THREADS);
			List<Future<?>> futures = IntStream.range(0, THREADS)
				.<Future<?>>mapToObj((thread) -> threads.submit(() -> work(locks, application, thread, done)))
				.toList();
			for (Future<?> future : futures) {
				future.get(30, TimeUnit.SECONDS);
			}
			threads.shutdown();
			assertThat(done).hasValue(THREADS * 10);
			locks.close();
			provider.close();
		}
	}

	@ParameterizedTest
	@CsvSource({ "own, 1", "own, 4", "application, 1", "application, 4" })
	void callThatHasNoConnectionNamesThePropertyThatGivesItOne(String pool, int size) throws Exception {
		HikariConfig config = new HikariConfig();
		config.setDataSource(TestDatabases.withTable(TestDatabases.h2()));
		CountDownLatch ended = new CountDownLatch(1);
		CountDownLatch begun = new CountDownLatch(1);
		try (HikariDataSource application = new HikariDataSource(config);
				LockTimer timer = new LockTimer();
				LockDataSource locks = pool.equals("own")
						? LockDataSource.derive(application, size, Duration.ofSeconds(30))
						: LockDataSource.of(application, size);
				SqlCallExecutor calls = new SqlCallExecutor(locks.connections(), "distributed_lock", timer)) {
			Thread busy = new Thread(() -> {
				try {
					calls.execute(CallKind.ACQUIRE, Duration.ofMinutes(1), (connection, dialect) -> {
						begun.countDown();
						await(ended);
						return true;
					});
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			});
			busy.start();
			begun.await();
			if (size > 1) {
				Boolean ran = calls.execute(CallKind.ACQUIRE, Duration.ofSeconds(30), (connection, dialect) -> true);
				assertThat(ran).isTrue();
			}
			else {
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(
							() -> calls.execute(CallKind.ACQUIRE, Duration.ofMillis(50), (connection, dialect) -> true))
					.withMessageContaining("none of its 1 connections")
					.withMessageContaining("within 50 ms (distributed-lock.call-timeout)")
					.withMessageContaining("distributed-lock.jdbc.pool.size");
			}
			ended.countDown();
			busy.join();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static Void work(LockTemplate locks, DataSource application, int thread, AtomicInteger done)
			throws SQLException {
		LockRequest request = LockRequest.of(LockKey.of("exhausted", "key-" + (thread % 4)))
			.withLease(Duration.ofSeconds(10))
			.withWaitTime(Duration.ofSeconds(20));
		for (int round = 0; round < 10; round++) {
			locks.<Void, SQLException>execute(request, (lease) -> {
				try (Connection connection = application.getConnection()) {
					connection.createStatement().execute("SELECT 1");
					connection.rollback();
				}
				lease.ensureHeld();
				done.incrementAndGet();
				return null;
			});
		}
		return null;
	}

}
