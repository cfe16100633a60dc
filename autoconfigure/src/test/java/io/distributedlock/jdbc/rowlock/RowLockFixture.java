package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.jdbc.JdbcFaults;
import io.distributedlock.jdbc.JdbcFixture;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.dialect.Sql;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Lock table of one database for processes with row locks. Each has two pools.
 */
public final class RowLockFixture extends JdbcFixture {

	/** Enough for the keys that the contract holds at once. */
	private static final int SIZE = 200;

	/** Half of it is how long an attempt waits in the queue of the database. */
	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	private final List<JdbcRowLockProvider> processes = new ArrayList<>();

	private final List<LockDataSource> pools = new ArrayList<>();

	public RowLockFixture(DataSource database) {
		super(database);
	}

	public RowLockFixture(DataSource database, @Nullable Function<JdbcFixture, ? extends JdbcFaults> faults) {
		super(database, faults);
	}

	@Override
	public LockProvider newProcess(String url) {
		return newProcess(url, SIZE);
	}

	public JdbcRowLockProvider newProcess(String url, int size) {
		LockDataSource rows = connect(url, size, CALL_TIMEOUT);
		this.pools.add(rows);
		JdbcRowLockProvider process = new JdbcRowLockProvider(connect(url, LockDataSource.DEFAULT_SIZE, callTimeout()),
				rows, CALL_TIMEOUT, JdbcLockSettings.defaults(PREFIX), timer());
		this.processes.add(process);
		return remember(process, process.process());
	}

	/** Returns the row that is locked for a key. */
	HeldRow heldRow(LockKey key) {
		List<String> owners = jdbc().queryForList("SELECT owner FROM distributed_lock WHERE lock_key = ?", String.class,
				storeKey(key));
		assertThat(owners).hasSize(1).doesNotContainNull();
		String owner = owners.get(0);
		return this.processes.stream()
			.map((process) -> process.heldRows().find(owner))
			.filter(Objects::nonNull)
			.findAny()
			.orElseThrow(() -> new AssertionError("The lock of " + key + " has ended before"));
	}

	/**
	 * Ends the session of the only attempt that has locked its row and now waits for that
	 * of the order, on PostgreSQL or MariaDB.
	 * @param blocker the connection that the attempt waits for
	 * @return {@code false} if there is no such attempt yet
	 */
	boolean endSessionOfABlockedAttempt(Connection blocker) throws SQLException {
		boolean postgres = url().startsWith("jdbc:postgresql");
		String waiting = postgres ? "SELECT pid FROM pg_stat_activity WHERE {database} AND wait_event_type = 'Lock'"
				: "SELECT t.trx_mysql_thread_id FROM {transactions} WHERE {database} AND t.trx_state = 'LOCK WAIT'";
		String locked = postgres
				? "SELECT pid FROM pg_stat_activity WHERE {database} AND state = 'idle in transaction' AND pid <> ?"
				: "SELECT t.trx_mysql_thread_id FROM {transactions} WHERE {database} AND t.trx_state = 'RUNNING'"
						+ " AND p.command = 'Sleep' AND t.trx_mysql_thread_id <> ?";
		long own = Sql
			.query(blocker, postgres ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()", (row) -> row.getLong(1))
			.get(0);
		if (jdbc().queryForList(words(waiting, postgres), Long.class).isEmpty()) {
			return false;
		}
		List<Long> sessions = jdbc().queryForList(words(locked, postgres), Long.class, own);
		assertThat(sessions).as("sessions that have locked a row").hasSize(1);
		end(sessions.get(0));
		return true;
	}

	private static String words(String statement, boolean postgres) {
		return statement.replace("{database}", postgres ? "datname = current_database()" : "p.db = DATABASE()")
			.replace("{transactions}", "information_schema.innodb_trx t"
					+ " JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id");
	}

	/** Ends the session that has locked the row, as an operator does. */
	@Override
	public void expire(LockKey key) {
		end(heldRow(key).session);
	}

	private void end(long session) {
		if (url().startsWith("jdbc:postgresql")) {
			assertThat(jdbc().queryForObject("SELECT pg_terminate_backend(?::int)", Boolean.class, session)).isTrue();
			awaitEnd("SELECT count(*) FROM pg_stat_activity WHERE pid = ?::int", session);
		}
		else if (TestDatabases.isMySqlCompatible(url())) {
			jdbc().execute("KILL CONNECTION " + session);
			awaitEnd("SELECT count(*) FROM information_schema.processlist WHERE id = ?", session);
		}
		else {
			assertThat(jdbc().queryForObject("SELECT ABORT_SESSION(?)", Boolean.class, session)).isTrue();
			awaitEnd("SELECT count(*) FROM information_schema.sessions WHERE session_id = ?", session);
		}
	}

	private void awaitEnd(String sessions, long session) {
		await().until(() -> jdbc().queryForObject(sessions, Long.class, session), (count) -> count == 0);
	}

	@Override
	public boolean supportsMinHold() {
		return false;
	}

	@Override
	public Duration pollBound() {
		return Duration.ofMillis(500);
	}

	/** Ends what is still locked: a provider that is closed leaves it to its holders. */
	@Override
	public void close() {
		super.close();
		this.pools.forEach(LockDataSource::close);
	}

}
