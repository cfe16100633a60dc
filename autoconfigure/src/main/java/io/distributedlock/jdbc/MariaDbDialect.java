package io.distributedlock.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Dialect of MariaDB, through its own driver or MySQL's. Keys are bytes, so that neither
 * a collation nor the character set of a connection changes them. Times are UTC whatever
 * the session's time zone.
 */
final class MariaDbDialect extends PolledDialect {

	private static final HexFormat HEX = HexFormat.of();

	/**
	 * The clock now instead of at the start of the statement. Only {@code SYSDATE} has
	 * it, and in the session's time zone.
	 */
	private static final String CLOCK = """
			(UTC_TIMESTAMP(6) + INTERVAL GREATEST(TIMESTAMPDIFF(MICROSECOND, CURRENT_TIMESTAMP(6), SYSDATE(6)), 0)
				MICROSECOND)""";

	private static final String COLUMNS = """
			owner, grant_order, holder,
			TIMESTAMPDIFF(MICROSECOND, acquired_at, {clockNow}),
			TIMESTAMPDIFF(MICROSECOND, {clockNow}, expires_at),
			first_waiter,
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', first_waiter_since),
			TIMESTAMPDIFF(MICROSECOND, {clockNow}, first_waiter_until),
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {clockNow}),
			second_waiter,
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', second_waiter_since),
			TIMESTAMPDIFF(MICROSECOND, {clockNow}, second_waiter_until)
			""";

	private static final String ATTEMPT = """
			INSERT INTO {table}
				(lock_key, owner, grant_order, expires_at, acquired_at, holder, first_waiter, first_waiter_since)
			VALUES (?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
				UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6), ?, ?,
				CASE WHEN ? THEN COALESCE(TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND,
					UTC_TIMESTAMP(6)) END)
			ON DUPLICATE KEY UPDATE {attempt}
			RETURNING {columns}""";

	private static final String RENEWALS = """
			JSON_TABLE(?, '$[*]' COLUMNS (k VARCHAR(4096) PATH '$[0]',
				o VARCHAR(41) CHARACTER SET ascii COLLATE ascii_nopad_bin PATH '$[1]', lease BIGINT PATH '$[2]')) w
			STRAIGHT_JOIN {table} l ON l.lock_key = UNHEX(w.k) AND l.owner = w.o
			WHERE l.expires_at > UTC_TIMESTAMP(6)""";

	private static final String RENEW = """
			INSERT INTO {table} (lock_key, owner, grant_order, expires_at)
			SELECT l.lock_key, l.owner, l.grant_order, UTC_TIMESTAMP(6) + INTERVAL w.lease MICROSECOND
			FROM {renewals} FOR UPDATE SKIP LOCKED
			ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)
			RETURNING lock_key, owner""";

	private static final String STILL_HELD = "SELECT l.lock_key, l.owner FROM {renewals}";

	private static final String SWEEP = "DELETE FROM {table} WHERE {deletable} AND lock_key IN (";

	private final String renew;

	private final String stillHeld;

	private final String sweep;

	MariaDbDialect(String table) {
		super("mariadb", table, words(), ATTEMPT);
		this.renew = sql(RENEW);
		this.stillHeld = sql(STILL_HELD);
		this.sweep = sql(SWEEP);
	}

	private static SqlWords words() {
		return SqlWords.of("row", "")
			.with("now", "VALUES(acquired_at)")
			.with("process", "VALUES(first_waiter)")
			.with("newOwner", "VALUES(owner)")
			.with("newOrder", "VALUES(grant_order)")
			.with("newHolder", "VALUES(holder)")
			.with("leaseEnd", "VALUES(expires_at)")
			.with("since", "VALUES(first_waiter_since)")
			.with("entryEnd", "VALUES(acquired_at) + INTERVAL " + POLLED_ENTRY_MICROS + " MICROSECOND")
			.with("reserved", "CONCAT('reserved:', VALUES(first_waiter))")
			.with("granted", "{acquirable} OR (owner = VALUES(owner) AND acquired_at = VALUES(acquired_at))")
			.with("busyOwner", "owner")
			.with("clock", "UTC_TIMESTAMP(6)")
			.with("reservationEnd", "UTC_TIMESTAMP(6) + INTERVAL " + POLLED_RESERVATION_MICROS + " MICROSECOND")
			.with("reservedForFirst", "CONCAT('reserved:', first_waiter)")
			.with("columns", COLUMNS)
			.with("clockNow", CLOCK)
			.with("epochMicros", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))")
			.with("retained", "UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND")
			.with("renewals", RENEWALS);
	}

	@Override
	public boolean isAbortable() {
		return true;
	}

	/**
	 * Bounds reads, because MariaDB's driver aborts a statement by a KILL over a new
	 * connection, which a server that hangs does not accept.
	 */
	@Override
	public void limitReads(Connection connection, int millis) throws SQLException {
		connection.setNetworkTimeout(Runnable::run, millis);
	}

	@Override
	public int readLimit(Connection connection) throws SQLException {
		return connection.getNetworkTimeout();
	}

	@Override
	public LockRow attempt(Connection connection, LockAttempt attempt) throws SQLException {
		try {
			return super.attempt(connection, attempt);
		}
		catch (SQLException ex) {
			// The bound of a statement also bounds the wait for a row's lock, because
			// that of InnoDB counts whole seconds.
			throw (ex.getErrorCode() == SqlErrors.MARIADB_STATEMENT_TIMEOUT) ? new SQLTransientException(
					"The statement may have waited for the row's lock", SqlErrors.LOCK_NOT_AVAILABLE, ex) : ex;
		}
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		String batch = json(renewals);
		Set<String> renewed = leases(connection, this.renew, batch);
		// A lease that was not renewed is unknown if its row is locked, else lost.
		Set<String> held = (renewed.size() < renewals.size()) ? leases(connection, this.stillHeld, batch) : renewed;
		return outcomes(renewals, renewed, held);
	}

	/**
	 * Encodes renewals in the order of the primary key, in which their rows are locked.
	 */
	private static String json(List<Renewal> renewals) {
		return renewals.stream()
			.map((renewal) -> "[\"" + HEX.formatHex(renewal.key().getBytes(StandardCharsets.UTF_8)) + "\",\""
					+ renewal.owner() + "\"," + renewal.leaseMicros() + "]")
			.sorted()
			.collect(Collectors.joining(",", "[", "]"));
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		String sql = this.sweep + String.join(",", Collections.nCopies(keys.size(), "?")) + ")";
		@Nullable Object[] arguments = new Object[keys.size() + 1];
		Arrays.setAll(arguments, (i) -> (i == 0) ? (Object) retentionMicros : stored(keys.get(i - 1)));
		return Sql.update(connection, sql, arguments);
	}

}
