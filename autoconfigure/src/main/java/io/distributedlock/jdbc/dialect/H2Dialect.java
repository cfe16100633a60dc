package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Dialect of H2 in memory, in a file or as a server, in its own and its compatibility
 * modes. Keys are bytes, because H2 can be set to ignore the case of text columns.
 */
public final class H2Dialect extends Dialect {

	private static final String ATTEMPT = """
			SELECT {columns} FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (
					SELECT {attempted}, CAST(? AS VARCHAR(32)) AS process, LEAST(CAST(? AS BIGINT), n.now) AS since
					FROM (VALUES {clock}) n(now)) s
				ON (t.lock_key = s.lock_key)
				WHEN MATCHED THEN UPDATE SET {attempt}
				WHEN NOT MATCHED THEN {insert})""";

	private static final String ATTEMPT_FREE = """
			SELECT grant_order FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (SELECT {attempted} FROM (VALUES {clock}) n(now)) s
				ON (t.lock_key = s.lock_key)
				WHEN MATCHED AND {uncontended} THEN UPDATE SET owner = {newOwner}, grant_order = {raisedOrder},
					expires_at = {leaseEnd}, acquired_at = {now}, holder = {newHolder}
				WHEN NOT MATCHED THEN {insert})""";

	/** Much cheaper than the epoch. A difference is one of local times: in one zone. */
	private static final String CLOCK = """
			DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00',
				CURRENT_TIMESTAMP(6) AT TIME ZONE 'UTC')""";

	private static final String ATTEMPTED = """
			CAST(? AS VARBINARY(900)) AS lock_key, CAST(? AS VARCHAR(41)) AS owner,
				n.now, n.now + CAST(? AS BIGINT) AS expires_at, CAST(? AS VARCHAR(255)) AS holder""";

	private static final String INSERT = """
			INSERT ({names}) VALUES (s.lock_key, s.owner, s.now, s.expires_at, s.now, s.holder, {noEntries})""";

	private static final String RENEWALS = """
			UNNEST(CAST(? AS VARBINARY(900) ARRAY), CAST(? AS VARCHAR(41) ARRAY), CAST(? AS BIGINT ARRAY)) AS w(k, o, lease)""";

	private static final String RENEW = """
			SELECT lock_key, owner FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (
					SELECT l.lock_key, l.owner, w.lease, n.now
					FROM {renewals} JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o,
						(VALUES {clock}) n(now)
					WHERE l.expires_at > n.now FOR UPDATE SKIP LOCKED) s
				ON (t.lock_key = s.lock_key AND t.owner = s.owner AND t.expires_at > s.now)
				WHEN MATCHED THEN UPDATE SET expires_at = s.now + s.lease)""";

	private static final String STILL_HELD = """
			SELECT l.lock_key, l.owner FROM {renewals} JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o
			WHERE l.expires_at > {clock}""";

	public H2Dialect(String table) {
		super("h2", table, words(), ATTEMPT, ATTEMPT_FREE);
	}

	private static SqlWords words() {
		return SqlWords.of("row", "t.")
			.with("now", "s.now")
			.with("process", "s.process")
			.with("newOwner", "s.owner")
			.with("newHolder", "s.holder")
			.with("leaseEnd", "s.expires_at")
			.with("since", "s.since")
			.with("entryMicros", Long.toString(POLLED_ENTRY_MICROS))
			.with("reservedFor", "'reserved:' || %s")
			.with("granted", "{acquirable}")
			.with("grantedOrder", "{raisedOrder}")
			.with("keptOrder", "t.grant_order")
			.with("busyOwner", "t.owner")
			.with("clock", CLOCK)
			.with("limit", "LIMIT ?")
			.with("clockNow", "{clock}")
			.with("releasedAt", "{clock}")
			.with("reservationMicros", Long.toString(POLLED_RESERVATION_MICROS))
			.with("attempted", ATTEMPTED)
			.with("insert", INSERT)
			.with("renewals", RENEWALS)
			.with("releaser", "?")
			.with("byKey", "")
			.with("ignore", "");
	}

	@Override
	public List<String> sessionSettings(Duration callTimeout) {
		long millis = Math.max(callTimeout.toMillis(), 2);
		return List.of("SET LOCK_TIMEOUT " + millis / 2, "SET QUERY_TIMEOUT " + millis);
	}

	@Override
	RowLockSession rowLockSession() {
		return RowLockSession.withoutIdleTimeout("SESSION_ID()");
	}

	@Override
	public boolean isAbortable() {
		return false;
	}

	/** H2 refuses the second row with an error, which it does not log. */
	@Override
	boolean isKeyUnique(Connection connection) throws SQLException {
		try {
			return super.isKeyUnique(connection);
		}
		catch (SQLException ex) {
			if (SqlErrors.isDuplicateKey(ex)) {
				return true;
			}
			throw ex;
		}
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		Object[] batch = arrays(connection, renewals);
		return outcomes(connection, renewals, leases(connection, sql(RENEW), batch), STILL_HELD, batch);
	}

}
