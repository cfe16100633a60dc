package io.distributedlock.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.StringUtils;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.Sql;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class PgBouncerTests {

	private static final String WARNING = "Contenders for locks poll the database";

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final LockTimer timer = new LockTimer();

	private final List<AutoCloseable> resources = new ArrayList<>(List.of(this.timer));

	private final PGSimpleDataSource database = TestDatabases.withTable(TestDatabases.postgres());

	@AfterEach
	void close() throws Exception {
		Collections.reverse(this.resources);
		for (AutoCloseable resource : this.resources) {
			resource.close();
		}
	}

	private PGSimpleDataSource pgBouncer(String poolMode) {
		PgBouncerServer server = PgBouncerServer.start(this.database, poolMode);
		this.resources.add(server);
		return server.through(this.database);
	}

	private JdbcLockProvider provider(PGSimpleDataSource connections) {
		HikariDataSource application = new HikariDataSource();
		application.setDataSource(connections);
		return provider(LockDataSource.derive(application, 4, TIMEOUT));
	}

	private JdbcLockProvider provider(LockDataSource connections) {
		JdbcLockProvider provider = new JdbcLockProvider(connections, JdbcLockSettings.defaults("app"), this.timer);
		this.resources.add(provider);
		TestDatabases.warmUp(provider);
		return provider;
	}

	private LockTemplate locks(JdbcLockProvider provider) {
		LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(), List.of());
		this.resources.add(locks);
		return locks;
	}

	@Test
	void sharedSessionsAreToldOnceAtStart(CapturedOutput output) {
		JdbcLockProvider provider = provider(pgBouncer("transaction"));
		await().atMost(PATIENCE).until(() -> output.getAll().contains(WARNING));
		assertThat(output.getAll()).contains("@DistributedLockDataSource");
		provider.check(TIMEOUT);
		assertThat(provider.listener().isReceiving()).isFalse();
		assertThat(StringUtils.countOccurrencesOf(output.getAll(), WARNING)).isEqualTo(1);
	}

	@Test
	void sessionsOfTheApplicationAreLeftAlone() throws Exception {
		PGSimpleDataSource shared = pgBouncer("transaction");
		LockTemplate locks = locks(provider(shared));
		LockTemplate others = locks(provider(shared));
		for (int round = 0; round < 30; round++) {
			LockRequest request = LockRequest.of(LockKey.of("orders")).withWaitTime(PATIENCE);
			try (LockLease lease = ((round % 2 == 0) ? locks : others).acquire(request)) {
				lease.ensureHeld();
			}
		}
		assertThat(settings(shared)).isEqualTo(Set.of("0 0"));
		assertThat(new JdbcTemplate(this.database).queryForObject("""
				SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND query LIKE 'LISTEN%'""", Long.class)).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void sessionsOfTheApplicationKeepTheirIsolation(boolean own) throws Exception {
		TestDatabases.execute(this.database, "ALTER DATABASE " + this.database.getDatabaseName()
				+ " SET default_transaction_isolation = 'serializable'");
		PGSimpleDataSource shared = pgBouncer("transaction");
		LockTemplate locks = locks(own ? provider(shared) : provider(LockDataSource.of(shared, 4)));
		LockTemplate others = locks(own ? provider(shared) : provider(LockDataSource.of(shared, 4)));
		LockRequest request = LockRequest.of(LockKey.of("orders")).withWaitTime(PATIENCE);
		List<Callable<Boolean>> callers = new ArrayList<>();
		AtomicInteger inside = new AtomicInteger();
		for (int i = 0; i < 8; i++) {
			LockTemplate mine = (i % 2 == 0) ? locks : others;
			callers.add(() -> mine.execute(request,
					(lease) -> inside.incrementAndGet() == 1 & inside.decrementAndGet() == 0));
		}
		ExecutorService threads = Executors.newFixedThreadPool(callers.size());
		this.resources.add(threads::shutdownNow);
		for (Future<Boolean> result : threads.invokeAll(callers)) {
			assertThat(result.get()).isTrue();
		}
		assertThat(read(shared, "SELECT current_setting('transaction_isolation')")).isEqualTo(Set.of("serializable"));
	}

	/** Returns the time-outs of all sessions that are open to the application. */
	private static Set<String> settings(PGSimpleDataSource shared) throws Exception {
		return read(shared, "SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')");
	}

	/** Returns what all sessions answer that are open to the application. */
	private static Set<String> read(PGSimpleDataSource shared, String query) throws Exception {
		List<Connection> connections = new ArrayList<>();
		Set<String> settings = new HashSet<>();
		try {
			for (int i = 0; i < 10; i++) {
				Connection connection = shared.getConnection();
				connections.add(connection);
				connection.setAutoCommit(false);
				settings.addAll(Sql.query(connection, query, (row) -> row.getString(1)));
			}
		}
		finally {
			for (Connection connection : connections) {
				connection.close();
			}
		}
		return settings;
	}

	@Test
	void sessionsOfTheirOwnReceiveNotifications(CapturedOutput output) {
		JdbcLockProvider provider = provider(pgBouncer("session"));
		await().atMost(PATIENCE).until(() -> provider.listener().isReceiving());
		assertThat(output.getAll()).doesNotContain(WARNING);
	}

}
