package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The sweeper as it runs by itself. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class SweeperTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** The order of the sweeper's lock, which rises with each sweep. */
	private static final String ORDERS = "SELECT grant_order FROM distributed_lock WHERE lock_key = '%sweeper'";

	private static final String EXPIRED = """
			INSERT INTO distributed_lock
			SELECT 'old-' || n, owner, 1, 0, 0, NULL, first_waiter, 0, 0, second_waiter, 0, 0
			FROM distributed_lock, generate_series(1, 1200) n""";

	private static JdbcLockProvider provider(String url, String user, LockTimer timer) {
		return new JdbcLockProvider(LockDataSource.connect(url, user, "", null, 2, Duration.ofSeconds(5)),
				new JdbcLockSettings("app", JdbcLockSettings.DEFAULT_TABLE, Duration.ofSeconds(1), false), timer);
	}

	@Test
	void oldRowsAreDeletedPageByPage() {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		JdbcTemplate jdbc = new JdbcTemplate(database);
		jdbc.execute(EXPIRED);
		try (LockTimer timer = new LockTimer();
				JdbcLockProvider provider = provider(TestDatabases.url(database), "postgres", timer)) {
			await().atMost(PATIENCE)
				.until(() -> jdbc.queryForObject("SELECT count(*) FROM distributed_lock WHERE lock_key LIKE 'old-%'",
						Long.class) == 0);
			assertThat(provider.name()).isEqualTo("jdbc");
		}
	}

	@Test
	void missingRightToDeleteIsToldOnce(CapturedOutput output) {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		String url = TestDatabases.url(database);
		String role = TestDatabases.grantLocks(database, url);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		jdbc.execute("REVOKE DELETE ON distributed_lock FROM " + role);
		jdbc.execute(EXPIRED);
		try (LockTimer timer = new LockTimer(); JdbcLockProvider provider = provider(url, role, timer)) {
			Set<Long> sweeps = new HashSet<>();
			await().atMost(PATIENCE).until(() -> {
				sweeps.addAll(jdbc.queryForList(ORDERS, Long.class));
				return sweeps.size() >= 3;
			});
			assertThat(output).containsOnlyOnce("Grant DELETE on the table");
			assertThat(provider.name()).isEqualTo("jdbc");
		}
	}

	@Test
	void oneProcessSweepsInEachPeriod() {
		DataSource database = TestDatabases.withTable(TestDatabases.postgres());
		String url = TestDatabases.url(database);
		JdbcTemplate jdbc = new JdbcTemplate(database);
		long start = System.nanoTime();
		try (LockTimer timer = new LockTimer();
				JdbcLockProvider first = provider(url, "postgres", timer);
				JdbcLockProvider second = provider(url, "postgres", timer)) {
			assertThat(first).isNotSameAs(second);
			Set<Long> sweeps = new HashSet<>();
			await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> {
				sweeps.addAll(jdbc.queryForList(ORDERS, Long.class));
				return !sweeps.isEmpty() && System.nanoTime() - start > Duration.ofSeconds(6).toNanos();
			});
			long most = Duration.ofNanos(System.nanoTime() - start).dividedBy(Duration.ofMillis(750)) + 1;
			assertThat(sweeps).hasSizeLessThanOrEqualTo((int) most);
		}
	}

}
