package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.ConnectionSource;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rights on the table that each step needs: the four in the documentation and no other.
 */
@Tag("full")
class TablePrivilegesTests {

	/** Half of it is for the first connection of a pool. */
	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final List<String> RIGHTS = List.of("SELECT", "INSERT", "UPDATE", "DELETE");

	private final LockTimer timer = new LockTimer();

	@AfterEach
	void close() {
		this.timer.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgres", "mariadb", "mariadb with mysql driver", "mysql" })
	void fourRightsAreNeededAndSufficient(String database) throws Exception {
		DataSource owner = TestDatabases.withTable(switch (database) {
			case "postgres" -> TestDatabases.postgres();
			case "mariadb" -> TestDatabases.mariaDb();
			case "mysql" -> TestDatabases.mySql();
			default -> TestDatabases.mariaDbWithMySqlDriver();
		});
		String url = TestDatabases.url(owner);
		String role = TestDatabases.grantLocks(owner, url);
		assertThat(failures(owner, url, role, () -> {
		})).isEmpty();
		Map<String, Set<String>> needed = new LinkedHashMap<>();
		for (String right : RIGHTS) {
			JdbcTemplate jdbc = new JdbcTemplate(owner);
			String name = TestDatabases.isMySqlCompatible(url) ? role + "@localhost" : role;
			needed.put(right, failures(owner, url, role,
					() -> jdbc.execute("REVOKE " + right + " ON distributed_lock FROM " + name)));
			jdbc.execute("GRANT " + right + " ON distributed_lock TO " + name);
		}
		assertThat(needed.get("SELECT")).contains("acquire", "renew", "release", "sweep");
		assertThat(needed.get("INSERT")).contains("acquire");
		assertThat(needed.get("INSERT").contains("renew")).isEqualTo(TestDatabases.isMySqlCompatible(url));
		assertThat(needed.get("UPDATE")).contains("acquire", "renew", "release");
		assertThat(needed.get("DELETE")).containsExactly("sweep");
	}

	/** Returns the steps that are denied after a change to the rights. */
	private Set<String> failures(DataSource owner, String url, String role, Runnable change) throws SQLException {
		Set<String> failures = new TreeSet<>();
		LockKey key = LockKey.of("granted", OwnerId.random().text());
		JdbcLockProvider full = provider(url, TestDatabases.user(url));
		JdbcLockProvider limited = provider(url, role);
		try {
			limited.check(TIMEOUT);
			change.run();
			LockKey fresh = LockKey.of("fresh", OwnerId.random().text());
			check(failures, "acquire", () -> attempt(limited, fresh, true) instanceof Granted);
			LockGrant grant = ((Granted) attempt(full, key, false)).grant();
			check(failures, "renew",
					() -> resultOf(limited.renew(Map.of(grant, LEASE), TIMEOUT)).containsValue(RenewalOutcome.RENEWED));
			check(failures, "release",
					() -> resultOf(limited.release(key, grant.owner(), TIMEOUT)) == ReleaseOutcome.RELEASED);
			Dialect dialect;
			try (Connection connection = owner.getConnection()) {
				dialect = DatabaseKind.of(connection).dialect(JdbcLockSettings.DEFAULT_TABLE);
			}
			try (ConnectionSource pool = LockDataSource.connect(url, role, "", null, 1, TIMEOUT).connections()) {
				Connection connection = pool.borrow(Deadline.after(TIMEOUT));
				try {
					dialect.readSweepCandidates(connection, "", 10, 1_000_000);
					dialect.sweep(connection, List.of("none"), 1_000_000);
				}
				catch (SQLException ex) {
					assertThat(SqlErrors.classify(ex)).isEqualTo(LockError.NOT_PERMITTED);
					failures.add("sweep");
				}
				finally {
					pool.close(connection);
				}
			}
			return failures;
		}
		finally {
			full.close();
			limited.close();
		}
	}

	private JdbcLockProvider provider(String url, String user) {
		return new JdbcLockProvider(LockDataSource.connect(url, user, "", null, 2, TIMEOUT),
				JdbcLockSettings.defaults("grants"), this.timer);
	}

	private static AttemptResult attempt(JdbcLockProvider provider, LockKey key, boolean willWait) {
		return resultOf(provider.newContender(key, () -> {
		}).attempt(OwnerId.random(), LEASE, willWait, TIMEOUT));
	}

	private static void check(Set<String> failures, String step, Supplier<Boolean> done) {
		boolean succeeded;
		try {
			succeeded = done.get();
		}
		catch (LockProviderException ex) {
			assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED);
			succeeded = false;
		}
		if (!succeeded) {
			failures.add(step);
		}
	}

}
