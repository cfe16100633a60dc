package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Dialect of MySQL, whose statements return the order of a grant by
 * {@code LAST_INSERT_ID}. What else they changed takes a further statement to find out.
 */
final class MySqlDialect extends MySqlCompatibleDialect {

	// The new end counts from a given instant, which identifies the renewed rows, or from
	// now.
	private static final String RENEW = """
			INSERT INTO {table} ({names})
			SELECT l.lock_key, l.owner, l.grant_order, COALESCE(?, {clock}) + w.lease, 0, NULL, {noEntries}
			FROM {renewals} FOR UPDATE OF l SKIP LOCKED
			ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)""";

	private static final String RENEWED = """
			SELECT l.lock_key, l.owner FROM {renewals} AND l.expires_at = ? + w.lease""";

	private static final String CLOCK = "SELECT {clock}";

	/** How many changed rows the server counts for a row that exists. */
	private static final int COUNT_OF_UPDATE = 2;

	MySqlDialect(String table) {
		super("mysql", table, words(), INSERT);
	}

	private static SqlWords words() {
		return SqlWords.of("clockNow", "{clock}")
			.with("insertedOrder", "LAST_INSERT_ID({clock})")
			.with("grantedOrder", "LAST_INSERT_ID({raisedOrder})")
			.with("keptOrder", "grant_order + LAST_INSERT_ID(0)");
	}

	/**
	 * The server counts whole seconds, and bounds waits for a table by another setting.
	 */
	@Override
	public List<String> sessionSettings(Duration callTimeout) {
		long seconds = Math.max(callTimeout.toMillis() / 2000, 1);
		return List.of("SET innodb_lock_wait_timeout = %d, lock_wait_timeout = %d, max_execution_time = %d"
			.formatted(seconds, seconds, Math.max(callTimeout.toMillis(), 1)));
	}

	/** The sessions send no other statements that the bound would concern. */
	@Override
	RowLockSession rowLockSession() {
		return idleSession((wait) -> "SET max_execution_time = " + wait.toMillis(), List.of("wait_timeout"));
	}

	@Override
	LockRow attemptByRule(Connection connection, RowAttempt attempt) throws SQLException {
		while (true) {
			long order = Sql.insert(connection, attemptSql(), arguments(attempt));
			if (order > 0) {
				return LockRow.granted(attempt, order);
			}
			LockRow row = read(connection, attempt.key());
			if (row != null) {
				return row;
			}
		}
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		String batch = json(renewals);
		if (Sql.update(connection, sql(RENEW), null, batch) == COUNT_OF_UPDATE * renewals.size()) {
			return Collections.nCopies(renewals.size(), RenewalOutcome.RENEWED);
		}
		long now = Sql.query(connection, sql(CLOCK), (row) -> row.getLong(1)).get(0);
		Sql.update(connection, sql(RENEW), now, batch);
		Set<String> renewed = leases(connection, sql(RENEWED), batch, now);
		return outcomes(connection, renewals, renewed, STILL_HELD, batch);
	}

}
