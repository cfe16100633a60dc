package io.distributedlock.jdbc.dialect;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.List;

import io.distributedlock.provider.RenewalOutcome;

/** Dialect of MariaDB, whose inserts return the row. */
final class MariaDbDialect extends MySqlCompatibleDialect {

	/**
	 * The clock now instead of at the start of the statement. Only {@code SYSDATE} has
	 * it, and in the session's time zone.
	 */
	private static final String CLOCK_NOW = """
			{clock} + GREATEST(TIMESTAMPDIFF(MICROSECOND, CURRENT_TIMESTAMP(6), SYSDATE(6)), 0)""";

	private static final String RENEW = """
			INSERT INTO {table} ({names})
			SELECT l.lock_key, l.owner, l.grant_order, {clock} + w.lease, 0, NULL, {noEntries}
			FROM {renewals} FOR UPDATE SKIP LOCKED
			ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)
			RETURNING lock_key, owner""";

	MariaDbDialect(String table) {
		super("mariadb", table, words(), INSERT + " RETURNING {columns}");
	}

	private static SqlWords words() {
		return SqlWords.of("clockNow", CLOCK_NOW)
			.with("insertedOrder", "{clock}")
			.with("grantedOrder", "{raisedOrder}")
			.with("keptOrder", "grant_order");
	}

	/**
	 * Sets the time zone too, in which {@code SYSDATE} is. InnoDB counts whole seconds,
	 * so the bound of the statement covers shorter waits for a row's lock.
	 */
	@Override
	public List<String> sessionSettings(Duration callTimeout) {
		long lockMillis = Math.max(callTimeout.toMillis() / 2, 1);
		return List.of("SET max_statement_time = %s, innodb_lock_wait_timeout = %d, time_zone = '+00:00'"
			.formatted(BigDecimal.valueOf(lockMillis, 3).toPlainString(), Math.max(lockMillis / 1000, 1)));
	}

	/** MariaDB has time-outs of its own for sessions that are idle in a transaction. */
	@Override
	RowLockSession rowLockSession() {
		return idleSession(null, List.of("wait_timeout", "idle_transaction_timeout", "idle_write_transaction_timeout",
				"idle_readonly_transaction_timeout"));
	}

	@Override
	public LockRow attempt(Connection connection, RowAttempt attempt, boolean expectsFree) throws SQLException {
		try {
			return super.attempt(connection, attempt, expectsFree);
		}
		catch (SQLException ex) {
			throw rowLocked(ex);
		}
	}

	/**
	 * The bound of a statement also bounds the wait for a row's lock, because that of
	 * InnoDB counts whole seconds.
	 */
	@Override
	SQLException rowLocked(SQLException ex) {
		return (ex.getErrorCode() == SqlErrors.MARIADB_STATEMENT_TIMEOUT) ? new SQLTransientException(
				"The statement may have waited for the row's lock", SqlErrors.LOCK_NOT_AVAILABLE, ex) : ex;
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		String batch = json(renewals);
		return outcomes(connection, renewals, leases(connection, sql(RENEW), batch), STILL_HELD, batch);
	}

}
