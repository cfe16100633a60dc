package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.health.contributor.Status;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.actuate.LockHealthIndicator;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests of the health of real databases. */
@Tag("full")
class JdbcHealthTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final Deque<AutoCloseable> opened = new ArrayDeque<>();

	private final LockTimer timer = closing(new LockTimer());

	@AfterEach
	void close() throws Exception {
		while (!this.opened.isEmpty()) {
			this.opened.pop().close();
		}
	}

	private <T extends AutoCloseable> T closing(T resource) {
		this.opened.push(resource);
		return resource;
	}

	private ManagedProvider process(DataSource database) {
		JdbcLockProvider provider = closing(new JdbcLockProvider(LockDataSource.derive(database, 2, TIMEOUT),
				JdbcLockSettings.defaults("health"), this.timer));
		TestDatabases.warmUp(provider);
		LockTemplate template = closing(
				new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(), List.of()));
		return new ManagedProvider("jdbc", provider, template, null);
	}

	private static void awaitStatus(LockHealthIndicator indicator, Status status, String errorId) {
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(indicator.health()).satisfies((health) -> {
			assertThat(health.getStatus()).isEqualTo(status);
			assertThat(health.getDetails().get("errorId")).isEqualTo(errorId);
		}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "h2", "postgresql", "mariadb" })
	void probeLeavesTheTableAsItIsAndFindsItMissing(String name) {
		DataSource database = TestDatabases.withTable(switch (name) {
			case "h2" -> TestDatabases.h2();
			case "mariadb" -> TestDatabases.mariaDb();
			default -> TestDatabases.postgres();
		});
		JdbcTemplate jdbc = new JdbcTemplate(database);
		ManagedProvider process = process(database);
		LockHealthIndicator indicator = new LockHealthIndicator(process, TIMEOUT);
		LockLease lease = process.template().acquire(LockRequest.of(LockKey.of("busy")));
		List<?> before = jdbc.queryForList("SELECT lock_key, grant_order, owner FROM distributed_lock ORDER BY 1, 2");
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		assertThat(jdbc.queryForList("SELECT lock_key, grant_order, owner FROM distributed_lock ORDER BY 1, 2"))
			.usingRecursiveComparison()
			.isEqualTo(before);
		lease.close();
		jdbc.execute("UPDATE distributed_lock SET grant_order = 7 WHERE holder IS NULL");
		awaitStatus(indicator, Status.OUT_OF_SERVICE, "DL-306");
		jdbc.execute("DROP TABLE distributed_lock");
		awaitStatus(indicator, Status.OUT_OF_SERVICE, "DL-304");
	}

	@Test
	void databaseThatIsReadOnlyIsOutOfService() {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		LockHealthIndicator indicator = new LockHealthIndicator(process(database), TIMEOUT);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		String name = jdbc.queryForObject("SELECT current_database()", String.class);
		jdbc.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
		disconnect(jdbc);
		awaitStatus(indicator, Status.OUT_OF_SERVICE, "DL-311");
		jdbc.execute((Connection connection) -> {
			try (Statement statement = connection.createStatement()) {
				statement.execute("SET default_transaction_read_only = off");
				return statement.execute("ALTER DATABASE " + name + " RESET default_transaction_read_only");
			}
		});
		disconnect(jdbc);
		awaitStatus(indicator, Status.UP, null);
	}

	private static void disconnect(JdbcTemplate jdbc) {
		jdbc.queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
				+ " WHERE datname = current_database() AND pid <> pg_backend_pid()");
	}

	@Test
	void missingRightIsOutOfService() {
		DataSource owner = TestDatabases.withTable(TestDatabases.postgres());
		String url = TestDatabases.url(owner);
		String role = TestDatabases.grantLocks(owner, url);
		JdbcLockProvider provider = closing(
				new JdbcLockProvider(LockDataSource.connect(url, role, "", null, 2, TIMEOUT),
						JdbcLockSettings.defaults("health"), this.timer));
		TestDatabases.warmUp(provider);
		LockTemplate template = closing(
				new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(), List.of()));
		LockHealthIndicator indicator = new LockHealthIndicator(new ManagedProvider("jdbc", provider, template, null),
				TIMEOUT);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		TestDatabases.execute(owner, "REVOKE UPDATE ON distributed_lock FROM " + role);
		awaitStatus(indicator, Status.OUT_OF_SERVICE, "DL-305");
	}

}
