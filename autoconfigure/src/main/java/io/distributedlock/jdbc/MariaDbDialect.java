package io.distributedlock.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * MariaDB, through its own driver or MySQL's. Keys are bytes, which no collation folds or
 * pads and no connection's character set changes; times are UTC whatever the session's
 * time zone.
 */
final class MariaDbDialect implements Dialect {

	/** The server ended the statement because of {@code max_statement_time}. */
	static final int STATEMENT_TIMED_OUT = 1969;

	private static final HexFormat HEX = HexFormat.of();

	/**
	 * The clock at this very moment. {@code SYSDATE} alone runs on, but tells the
	 * session's time.
	 */
	private static final String CLOCK = """
			(UTC_TIMESTAMP(6) + INTERVAL GREATEST(TIMESTAMPDIFF(MICROSECOND, CURRENT_TIMESTAMP(6), SYSDATE(6)), 0)
				MICROSECOND)""";

	private static final String COLUMNS = """
			owner, lease_order, holder,
			TIMESTAMPDIFF(MICROSECOND, acquired_at, {clock}),
			TIMESTAMPDIFF(MICROSECOND, {clock}, expires_at),
			first_waiter,
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', first_since),
			TIMESTAMPDIFF(MICROSECOND, {clock}, first_until),
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {clock}),
			second_waiter,
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', second_since),
			TIMESTAMPDIFF(MICROSECOND, {clock}, second_until)
			""";

	private static final String TAKEABLE = """
			(owner IS NULL OR owner = CONCAT('reserved:', VALUES(first_waiter)) OR expires_at <= VALUES(acquired_at))""";

	private static final String PLACE_OPEN = """
			(VALUES(first_since) IS NOT NULL AND owner <> VALUES(owner) AND (first_waiter IS NULL
				OR first_waiter = VALUES(first_waiter) OR first_until IS NULL OR first_until <= VALUES(acquired_at)
				OR first_since > VALUES(first_since)))""";

	private static final String DISPLACED = """
			({placeOpen} AND first_waiter <> VALUES(first_waiter) AND first_until > VALUES(acquired_at)
				AND (second_waiter IS NULL OR second_waiter = VALUES(first_waiter) OR second_until <= VALUES(acquired_at)
					OR second_since >= first_since))""";

	private static final String SECOND = """
			(VALUES(first_since) IS NOT NULL AND owner <> VALUES(owner) AND NOT {placeOpen}
				AND (second_waiter IS NULL OR second_waiter = VALUES(first_waiter) OR second_until <= VALUES(acquired_at)
					OR second_since >= VALUES(first_since)))""";

	// Assignments run from left to right, or all on the old row with sql_mode
	// SIMULTANEOUS_ASSIGNMENT. So nothing is assigned before the last condition that
	// reads it, but for some whose new values give the same answer as the old row did: a
	// second place that was open has the same arrival afterwards, a place that was open
	// is this process's, and an owner that was granted the lock comes with its time of
	// acquisition.
	private static final String ATTEMPT = """
			INSERT INTO {table}
				(lock_key, owner, lease_order, expires_at, acquired_at, holder, first_waiter, first_since)
			VALUES (?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
				UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6), ?, ?,
				CASE WHEN ? THEN COALESCE(TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND,
					UTC_TIMESTAMP(6)) END)
			ON DUPLICATE KEY UPDATE
				lease_order = CASE WHEN {takeable} THEN GREATEST(lease_order + 1, VALUES(lease_order))
					ELSE lease_order END,
				holder = CASE WHEN {takeable} THEN VALUES(holder) ELSE holder END,
				acquired_at = CASE WHEN {takeable} THEN VALUES(acquired_at) ELSE acquired_at END,
				second_since = CASE WHEN {takeable} THEN second_since WHEN {displaced} THEN first_since
					WHEN {second} THEN VALUES(first_since) ELSE second_since END,
				second_until = CASE WHEN {takeable} THEN second_until WHEN {displaced} THEN first_until
					WHEN {second} THEN VALUES(acquired_at) + INTERVAL {place} MICROSECOND ELSE second_until END,
				second_waiter = CASE WHEN {takeable} THEN NULLIF(second_waiter, VALUES(first_waiter))
					WHEN {displaced} THEN first_waiter WHEN {placeOpen} THEN NULLIF(second_waiter, VALUES(first_waiter))
					WHEN {second} THEN VALUES(first_waiter) ELSE second_waiter END,
				first_waiter = CASE WHEN {takeable} THEN NULLIF(first_waiter, VALUES(first_waiter))
					WHEN {placeOpen} THEN VALUES(first_waiter) ELSE first_waiter END,
				first_since = CASE WHEN {takeable} OR NOT {placeOpen} THEN first_since ELSE VALUES(first_since) END,
				first_until = CASE WHEN {takeable} OR NOT {placeOpen} THEN first_until
					ELSE VALUES(acquired_at) + INTERVAL {place} MICROSECOND END,
				owner = CASE WHEN {takeable} THEN VALUES(owner) ELSE owner END,
				expires_at = CASE WHEN {takeable} OR (owner = VALUES(owner) AND acquired_at = VALUES(acquired_at))
					THEN VALUES(expires_at) ELSE expires_at END
			RETURNING {columns}""";

	private static final String LOOK = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	private static final String RELEASE = """
			UPDATE {table} SET
				expires_at = CASE WHEN first_waiter <> ? AND first_until > UTC_TIMESTAMP(6)
					THEN UTC_TIMESTAMP(6) + INTERVAL {grace} MICROSECOND ELSE UTC_TIMESTAMP(6) END,
				owner = CASE WHEN first_waiter <> ? AND first_until > UTC_TIMESTAMP(6) THEN CONCAT('reserved:', first_waiter) END,
				first_waiter = CASE WHEN second_waiter <> ? AND second_until > UTC_TIMESTAMP(6) THEN second_waiter END,
				first_since = second_since, first_until = second_until, second_waiter = NULL
			WHERE lock_key = ? AND owner = ?""";

	private static final String LEAVE = """
			UPDATE {table} SET first_waiter = NULLIF(first_waiter, ?), second_waiter = NULLIF(second_waiter, ?)
			WHERE lock_key = ? AND (first_waiter = ? OR second_waiter = ?)""";

	private static final String WANT = """
			JSON_TABLE(?, '$[*]' COLUMNS (k VARCHAR(4096) PATH '$[0]',
				o VARCHAR(41) CHARACTER SET ascii COLLATE ascii_nopad_bin PATH '$[1]', lease BIGINT PATH '$[2]')) w
			STRAIGHT_JOIN {table} l ON l.lock_key = UNHEX(w.k) AND l.owner = w.o
			WHERE l.expires_at > UTC_TIMESTAMP(6)""";

	private static final String RENEW = """
			INSERT INTO {table} (lock_key, owner, lease_order, expires_at)
			SELECT l.lock_key, l.owner, l.lease_order, UTC_TIMESTAMP(6) + INTERVAL w.lease MICROSECOND
			FROM {want} FOR UPDATE SKIP LOCKED
			ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)
			RETURNING lock_key, owner""";

	private static final String STILL_OURS = "SELECT l.lock_key, l.owner FROM {want}";

	private static final String SWEEPABLE = """
			COALESCE(expires_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
				AND lease_order < TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), FALSE)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {sweepable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String SWEEP = "DELETE FROM {table} WHERE {sweepable} AND lock_key IN ({keys})";

	private static final String PROBE = """
			SELECT f.lease_order, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
			FROM (SELECT 1) one LEFT JOIN (
				SELECT lock_key, owner, lease_order, expires_at, acquired_at, holder, first_waiter, first_since, first_until,
					second_waiter, second_since, second_until
				FROM {table} WHERE lock_key = ?) f ON TRUE""";

	private final String schema;

	private final String attempt;

	private final String look;

	private final String release;

	private final String leave;

	private final String renew;

	private final String stillOurs;

	private final String candidates;

	private final String sweep;

	private final String probe;

	MariaDbDialect(String table) {
		this.schema = Sql.script("mariadb", table);
		this.attempt = fill(ATTEMPT, table);
		this.look = fill(LOOK, table);
		this.release = fill(RELEASE, table);
		this.leave = fill(LEAVE, table);
		this.renew = fill(RENEW, table);
		this.stillOurs = fill(STILL_OURS, table);
		this.candidates = fill(CANDIDATES, table);
		this.sweep = fill(SWEEP, table);
		this.probe = fill(PROBE, table);
	}

	private static String fill(String sql, String table) {
		return sql.replace("{columns}", COLUMNS)
			.replace("{clock}", CLOCK)
			.replace("{takeable}", TAKEABLE)
			.replace("{displaced}", DISPLACED)
			.replace("{second}", SECOND)
			.replace("{placeOpen}", PLACE_OPEN)
			.replace("{want}", WANT)
			.replace("{sweepable}", SWEEPABLE)
			.replace("{place}", Long.toString(Claim.PLACE))
			.replace("{grace}", Long.toString(Claim.GRACE))
			.replace("{table}", table);
	}

	@Override
	public boolean abortable() {
		return true;
	}

	/**
	 * MariaDB's driver aborts a running statement by a KILL over a new connection, which
	 * a server that does not answer keeps waiting.
	 */
	@Override
	public void limit(Connection connection, int millis) throws SQLException {
		connection.setNetworkTimeout(Runnable::run, millis);
	}

	@Override
	public String schema() {
		return this.schema;
	}

	@Override
	public LockRow attempt(Connection connection, Claim claim) throws SQLException {
		try {
			return Sql
				.query(connection, this.attempt, LockRow::read, bytes(claim.key()), claim.owner(), claim.lease(),
						claim.holder(), claim.process(), claim.willWait(), claim.since())
				.get(0);
		}
		catch (SQLException ex) {
			// The bound of a statement is also that of waiting for a row's lock, because
			// InnoDB's own counts whole seconds.
			throw (ex.getErrorCode() == STATEMENT_TIMED_OUT) ? new SQLTransientException(
					"The statement may have waited for the row's lock", SqlErrors.LOCK_NOT_AVAILABLE, ex) : ex;
		}
	}

	@Override
	public @Nullable LockRow look(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, this.look, LockRow::read, (Object) bytes(key));
		return rows.isEmpty() ? null : rows.get(0);
	}

	@Override
	public boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return Sql.update(connection, this.release, process, process, process, bytes(key), owner) > 0;
	}

	@Override
	public boolean leave(Connection connection, String key, String process) throws SQLException {
		return Sql.update(connection, this.leave, process, process, bytes(key), process, process) > 0;
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		String want = json(renewals);
		Set<String> renewed = owned(connection, this.renew, want);
		// Only what was not renewed asks why: locked by somebody just now, or no longer
		// ours.
		Set<String> ours = (renewed.size() < renewals.size()) ? owned(connection, this.stillOurs, want) : renewed;
		List<RenewalOutcome> outcomes = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			String id = renewal.owner() + HEX.formatHex(bytes(renewal.key()));
			outcomes.add(renewed.contains(id) ? RenewalOutcome.RENEWED
					: ours.contains(id) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	private static Set<String> owned(Connection connection, String sql, String want) throws SQLException {
		return new HashSet<>(
				Sql.query(connection, sql, (row) -> row.getString(2) + HEX.formatHex(row.getBytes(1)), want));
	}

	/** The rows are read, and so locked, in this order: that of the primary key. */
	private static String json(List<Renewal> renewals) {
		return renewals.stream()
			.map((renewal) -> "[\"" + HEX.formatHex(bytes(renewal.key())) + "\",\"" + renewal.owner() + "\","
					+ renewal.lease() + "]")
			.sorted()
			.collect(Collectors.joining(",", "[", "]"));
	}

	@Override
	public List<Candidate> candidates(Connection connection, String after, int limit, long retention)
			throws SQLException {
		return Sql.query(connection, this.candidates,
				(row) -> new Candidate(new String(row.getBytes(1), StandardCharsets.UTF_8), row.getBoolean(2)),
				retention, bytes(after), limit);
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retention) throws SQLException {
		String sql = this.sweep.replace("{keys}", String.join(",", Collections.nCopies(keys.size(), "?")));
		@Nullable Object[] arguments = new Object[keys.size() + 1];
		Arrays.setAll(arguments, (i) -> (i == 0) ? (Object) retention : bytes(keys.get(i - 1)));
		return Sql.update(connection, sql, arguments);
	}

	@Override
	public Probe probe(Connection connection) throws SQLException {
		return Sql
			.query(connection, this.probe, (row) -> new Probe(row.getLong(1), row.getLong(2)),
					(Object) bytes(StoreKeys.FORMAT))
			.get(0);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
