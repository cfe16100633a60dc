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
 * Dialect of MariaDB, through its own driver or MySQL's. Keys are bytes, so that neither
 * a collation nor the character set of a connection changes them. Times are UTC whatever
 * the session's time zone.
 */
final class MariaDbDialect implements Dialect {

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
			TIMESTAMPDIFF(MICROSECOND, acquired_at, {clock}),
			TIMESTAMPDIFF(MICROSECOND, {clock}, expires_at),
			first_waiter,
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', first_waiter_since),
			TIMESTAMPDIFF(MICROSECOND, {clock}, first_waiter_until),
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {clock}),
			second_waiter,
			TIMESTAMPDIFF(MICROSECOND, '1970-01-01', second_waiter_since),
			TIMESTAMPDIFF(MICROSECOND, {clock}, second_waiter_until)
			""";

	private static final String ACQUIRABLE = """
			(owner IS NULL OR owner = CONCAT('reserved:', VALUES(first_waiter)) OR expires_at <= VALUES(acquired_at))""";

	private static final String FIRST_OPEN = """
			(VALUES(first_waiter_since) IS NOT NULL AND owner <> VALUES(owner) AND (first_waiter IS NULL
				OR first_waiter = VALUES(first_waiter) OR first_waiter_until IS NULL
				OR first_waiter_until <= VALUES(acquired_at)
				OR first_waiter_since > VALUES(first_waiter_since)))""";

	private static final String DISPLACED = """
			({firstOpen} AND first_waiter <> VALUES(first_waiter) AND first_waiter_until > VALUES(acquired_at)
				AND (second_waiter IS NULL OR second_waiter = VALUES(first_waiter) OR second_waiter_until <= VALUES(acquired_at)
					OR second_waiter_since >= first_waiter_since))""";

	private static final String SECOND_OPEN = """
			(VALUES(first_waiter_since) IS NOT NULL AND owner <> VALUES(owner) AND NOT {firstOpen}
				AND (second_waiter IS NULL OR second_waiter = VALUES(first_waiter) OR second_waiter_until <= VALUES(acquired_at)
					OR second_waiter_since >= VALUES(first_waiter_since)))""";

	// Assignments run from left to right, or all on the old row if sql_mode has
	// SIMULTANEOUS_ASSIGNMENT. So a column is assigned after the last condition that
	// reads it. The exceptions are conditions that hold for the new value as they held
	// for the old one: a second entry that was open, a first entry that was open and now
	// is that of this process, and an owner that was granted the lock, which
	// acquired_at shows.
	private static final String ATTEMPT = """
			INSERT INTO {table}
				(lock_key, owner, grant_order, expires_at, acquired_at, holder, first_waiter, first_waiter_since)
			VALUES (?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
				UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6), ?, ?,
				CASE WHEN ? THEN COALESCE(TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL ? MICROSECOND,
					UTC_TIMESTAMP(6)) END)
			ON DUPLICATE KEY UPDATE
				grant_order = CASE WHEN {acquirable} THEN GREATEST(grant_order + 1, VALUES(grant_order))
					ELSE grant_order END,
				holder = CASE WHEN {acquirable} THEN VALUES(holder) ELSE holder END,
				acquired_at = CASE WHEN {acquirable} THEN VALUES(acquired_at) ELSE acquired_at END,
				second_waiter_since = CASE WHEN {acquirable} THEN second_waiter_since
					WHEN {displaced} THEN first_waiter_since
					WHEN {secondOpen} THEN VALUES(first_waiter_since) ELSE second_waiter_since END,
				second_waiter_until = CASE WHEN {acquirable} THEN second_waiter_until
					WHEN {displaced} THEN first_waiter_until
					WHEN {secondOpen} THEN VALUES(acquired_at) + INTERVAL {entry} MICROSECOND ELSE second_waiter_until END,
				second_waiter = CASE WHEN {acquirable} THEN NULLIF(second_waiter, VALUES(first_waiter))
					WHEN {displaced} THEN first_waiter WHEN {firstOpen} THEN NULLIF(second_waiter, VALUES(first_waiter))
					WHEN {secondOpen} THEN VALUES(first_waiter) ELSE second_waiter END,
				first_waiter = CASE WHEN {acquirable} THEN NULLIF(first_waiter, VALUES(first_waiter))
					WHEN {firstOpen} THEN VALUES(first_waiter) ELSE first_waiter END,
				first_waiter_since = CASE WHEN {acquirable} OR NOT {firstOpen} THEN first_waiter_since
					ELSE VALUES(first_waiter_since) END,
				first_waiter_until = CASE WHEN {acquirable} OR NOT {firstOpen} THEN first_waiter_until
					ELSE VALUES(acquired_at) + INTERVAL {entry} MICROSECOND END,
				owner = CASE WHEN {acquirable} THEN VALUES(owner) ELSE owner END,
				expires_at = CASE WHEN {acquirable} OR (owner = VALUES(owner) AND acquired_at = VALUES(acquired_at))
					THEN VALUES(expires_at) ELSE expires_at END
			RETURNING {columns}""";

	private static final String READ = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	private static final String RELEASE = """
			UPDATE {table} SET
				expires_at = CASE WHEN first_waiter <> ? AND first_waiter_until > UTC_TIMESTAMP(6)
					THEN UTC_TIMESTAMP(6) + INTERVAL {reservation} MICROSECOND ELSE UTC_TIMESTAMP(6) END,
				owner = CASE WHEN first_waiter <> ? AND first_waiter_until > UTC_TIMESTAMP(6)
					THEN CONCAT('reserved:', first_waiter) END,
				first_waiter = CASE WHEN second_waiter <> ? AND second_waiter_until > UTC_TIMESTAMP(6)
					THEN second_waiter END,
				first_waiter_since = second_waiter_since, first_waiter_until = second_waiter_until, second_waiter = NULL
			WHERE lock_key = ? AND owner = ?""";

	private static final String REMOVE_ENTRIES = """
			UPDATE {table} SET first_waiter = NULLIF(first_waiter, ?), second_waiter = NULLIF(second_waiter, ?)
			WHERE lock_key = ? AND (first_waiter = ? OR second_waiter = ?)""";

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

	private static final String DELETABLE = """
			COALESCE(expires_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
				AND grant_order < TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), FALSE)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {deletable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String SWEEP = "DELETE FROM {table} WHERE {deletable} AND lock_key IN ({keys})";

	private static final String STATUS = """
			SELECT f.grant_order, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
			FROM (SELECT 1) one LEFT JOIN (
				SELECT lock_key, owner, grant_order, expires_at, acquired_at, holder,
					first_waiter, first_waiter_since, first_waiter_until,
					second_waiter, second_waiter_since, second_waiter_until
				FROM {table} WHERE lock_key = ?) f ON TRUE""";

	private final String schema;

	private final String attempt;

	private final String read;

	private final String release;

	private final String removeEntries;

	private final String renew;

	private final String stillHeld;

	private final String candidates;

	private final String sweep;

	private final String status;

	MariaDbDialect(String table) {
		this.schema = Sql.script("mariadb", table);
		this.attempt = fill(ATTEMPT, table);
		this.read = fill(READ, table);
		this.release = fill(RELEASE, table);
		this.removeEntries = fill(REMOVE_ENTRIES, table);
		this.renew = fill(RENEW, table);
		this.stillHeld = fill(STILL_HELD, table);
		this.candidates = fill(CANDIDATES, table);
		this.sweep = fill(SWEEP, table);
		this.status = fill(STATUS, table);
	}

	private static String fill(String sql, String table) {
		return sql.replace("{columns}", COLUMNS)
			.replace("{clock}", CLOCK)
			.replace("{acquirable}", ACQUIRABLE)
			.replace("{displaced}", DISPLACED)
			.replace("{secondOpen}", SECOND_OPEN)
			.replace("{firstOpen}", FIRST_OPEN)
			.replace("{renewals}", RENEWALS)
			.replace("{deletable}", DELETABLE)
			.replace("{entry}", Long.toString(POLLED_ENTRY_MICROS))
			.replace("{reservation}", Long.toString(POLLED_RESERVATION_MICROS))
			.replace("{table}", table);
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
	public String schema() {
		return this.schema;
	}

	@Override
	public LockRow attempt(Connection connection, LockAttempt attempt) throws SQLException {
		try {
			return Sql
				.query(connection, this.attempt, LockRow::read, bytes(attempt.key()), attempt.owner(),
						attempt.leaseMicros(), attempt.holder(), attempt.process(), attempt.willWait(),
						attempt.sinceMicros())
				.get(0);
		}
		catch (SQLException ex) {
			// The bound of a statement also bounds the wait for a row's lock, because
			// that of InnoDB counts whole seconds.
			throw (ex.getErrorCode() == SqlErrors.MARIADB_STATEMENT_TIMEOUT) ? new SQLTransientException(
					"The statement may have waited for the row's lock", SqlErrors.LOCK_NOT_AVAILABLE, ex) : ex;
		}
	}

	@Override
	public @Nullable LockRow read(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, this.read, LockRow::read, (Object) bytes(key));
		return rows.isEmpty() ? null : rows.get(0);
	}

	@Override
	public boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return Sql.update(connection, this.release, process, process, process, bytes(key), owner) > 0;
	}

	@Override
	public boolean removeEntries(Connection connection, String key, String process) throws SQLException {
		return Sql.update(connection, this.removeEntries, process, process, bytes(key), process, process) > 0;
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		String batch = json(renewals);
		Set<String> renewed = owned(connection, this.renew, batch);
		// A lease that was not renewed is unknown if its row is locked, else lost.
		Set<String> held = (renewed.size() < renewals.size()) ? owned(connection, this.stillHeld, batch) : renewed;
		List<RenewalOutcome> outcomes = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			String id = renewal.owner() + HEX.formatHex(bytes(renewal.key()));
			outcomes.add(renewed.contains(id) ? RenewalOutcome.RENEWED
					: held.contains(id) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	private static Set<String> owned(Connection connection, String sql, String batch) throws SQLException {
		return new HashSet<>(
				Sql.query(connection, sql, (row) -> row.getString(2) + HEX.formatHex(row.getBytes(1)), batch));
	}

	/**
	 * Encodes renewals in the order of the primary key, in which their rows are locked.
	 */
	private static String json(List<Renewal> renewals) {
		return renewals.stream()
			.map((renewal) -> "[\"" + HEX.formatHex(bytes(renewal.key())) + "\",\"" + renewal.owner() + "\","
					+ renewal.leaseMicros() + "]")
			.sorted()
			.collect(Collectors.joining(",", "[", "]"));
	}

	@Override
	public List<SweepCandidate> readSweepCandidates(Connection connection, String after, int limit,
			long retentionMicros) throws SQLException {
		return Sql.query(connection, this.candidates,
				(row) -> new SweepCandidate(new String(row.getBytes(1), StandardCharsets.UTF_8), row.getBoolean(2)),
				retentionMicros, bytes(after), limit);
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		String sql = this.sweep.replace("{keys}", String.join(",", Collections.nCopies(keys.size(), "?")));
		@Nullable Object[] arguments = new Object[keys.size() + 1];
		Arrays.setAll(arguments, (i) -> (i == 0) ? (Object) retentionMicros : bytes(keys.get(i - 1)));
		return Sql.update(connection, sql, arguments);
	}

	@Override
	public TableStatus readStatus(Connection connection) throws SQLException {
		return Sql
			.query(connection, this.status, (row) -> new TableStatus(row.getLong(1), row.getLong(2)),
					(Object) bytes(LockKeyEncoder.FORMAT_ROW))
			.get(0);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
