package io.distributedlock.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Dialect of H2 in memory, in a file or as a server, in its own and its compatibility
 * modes. Keys are bytes, because H2 can be set to ignore the case of text columns.
 */
final class H2Dialect implements Dialect {

	private static final String COLUMNS = """
			owner, grant_order, holder,
			{now} - CAST(EXTRACT(EPOCH FROM acquired_at) * 1000000 AS BIGINT),
			CAST(EXTRACT(EPOCH FROM expires_at) * 1000000 AS BIGINT) - {now},
			first_waiter,
			CAST(EXTRACT(EPOCH FROM first_waiter_since) * 1000000 AS BIGINT),
			CAST(EXTRACT(EPOCH FROM first_waiter_until) * 1000000 AS BIGINT) - {now},
			{now},
			second_waiter,
			CAST(EXTRACT(EPOCH FROM second_waiter_since) * 1000000 AS BIGINT),
			CAST(EXTRACT(EPOCH FROM second_waiter_until) * 1000000 AS BIGINT) - {now}
			""";

	private static final String NOW = "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";

	private static final String ACQUIRABLE = """
			(t.owner IS NULL OR t.owner = 'reserved:' || s.process OR t.expires_at <= s.now)""";

	private static final String FIRST_OPEN = """
			(s.since IS NOT NULL AND t.owner <> s.owner AND (t.first_waiter IS NULL OR t.first_waiter = s.process
				OR t.first_waiter_until IS NULL OR t.first_waiter_until <= s.now OR t.first_waiter_since > s.since))""";

	private static final String DISPLACED = """
			({firstOpen} AND t.first_waiter <> s.process AND t.first_waiter_until > s.now
				AND (t.second_waiter IS NULL OR t.second_waiter = s.process OR t.second_waiter_until <= s.now
					OR t.second_waiter_since >= t.first_waiter_since))""";

	private static final String SECOND_OPEN = """
			(s.since IS NOT NULL AND t.owner <> s.owner AND NOT {firstOpen}
				AND (t.second_waiter IS NULL OR t.second_waiter = s.process OR t.second_waiter_until <= s.now
					OR t.second_waiter_since >= s.since))""";

	private static final String ATTEMPT = """
			SELECT {columns} FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (
					SELECT CAST(? AS VARBINARY(2048)) AS lock_key, CAST(? AS VARCHAR(41)) AS owner,
						CAST(EXTRACT(EPOCH FROM n.now) * 1000000 AS BIGINT) AS grant_order,
						DATEADD(MICROSECOND, CAST(? AS BIGINT), n.now) AS expires_at, n.now AS now,
						CAST(? AS VARCHAR(255)) AS holder, CAST(? AS VARCHAR(32)) AS process,
						CASE WHEN CAST(? AS BOOLEAN) THEN COALESCE(DATEADD(MICROSECOND, CAST(? AS BIGINT),
							TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'), n.now) END AS since
					FROM (VALUES CURRENT_TIMESTAMP(6)) n(now)) s
				ON (t.lock_key = s.lock_key)
				WHEN MATCHED THEN UPDATE SET
					owner = CASE WHEN {acquirable} THEN s.owner ELSE t.owner END,
					grant_order = CASE WHEN {acquirable} THEN GREATEST(t.grant_order + 1, s.grant_order)
						ELSE t.grant_order END,
					expires_at = CASE WHEN {acquirable} THEN s.expires_at ELSE t.expires_at END,
					acquired_at = CASE WHEN {acquirable} THEN s.now ELSE t.acquired_at END,
					holder = CASE WHEN {acquirable} THEN s.holder ELSE t.holder END,
					first_waiter = CASE WHEN {acquirable} THEN NULLIF(t.first_waiter, s.process)
						WHEN {firstOpen} THEN s.process ELSE t.first_waiter END,
					first_waiter_since = CASE WHEN {acquirable} OR NOT {firstOpen} THEN t.first_waiter_since ELSE s.since END,
					first_waiter_until = CASE WHEN {acquirable} OR NOT {firstOpen} THEN t.first_waiter_until
						ELSE DATEADD(MICROSECOND, {entry}, s.now) END,
					second_waiter = CASE WHEN {acquirable} THEN NULLIF(t.second_waiter, s.process)
						WHEN {displaced} THEN t.first_waiter WHEN {firstOpen} THEN NULLIF(t.second_waiter, s.process)
						WHEN {secondOpen} THEN s.process ELSE t.second_waiter END,
					second_waiter_since = CASE WHEN {acquirable} THEN t.second_waiter_since
					WHEN {displaced} THEN t.first_waiter_since
						WHEN {secondOpen} THEN s.since ELSE t.second_waiter_since END,
					second_waiter_until = CASE WHEN {acquirable} THEN t.second_waiter_until
					WHEN {displaced} THEN t.first_waiter_until
						WHEN {secondOpen} THEN DATEADD(MICROSECOND, {entry}, s.now) ELSE t.second_waiter_until END
				WHEN NOT MATCHED THEN INSERT (lock_key, owner, grant_order, expires_at, acquired_at, holder)
					VALUES (s.lock_key, s.owner, s.grant_order, s.expires_at, s.now, s.holder))""";

	private static final String READ = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	private static final String RELEASE = """
			UPDATE {table} SET
				owner = CASE WHEN first_waiter <> ? AND first_waiter_until > CURRENT_TIMESTAMP(6)
					THEN 'reserved:' || first_waiter END,
				expires_at = CASE WHEN first_waiter <> ? AND first_waiter_until > CURRENT_TIMESTAMP(6)
					THEN DATEADD(MICROSECOND, {reservation}, CURRENT_TIMESTAMP(6)) ELSE CURRENT_TIMESTAMP(6) END,
				first_waiter = CASE WHEN second_waiter <> ? AND second_waiter_until > CURRENT_TIMESTAMP(6)
					THEN second_waiter END,
				first_waiter_since = second_waiter_since, first_waiter_until = second_waiter_until, second_waiter = NULL
			WHERE lock_key = ? AND owner = ?""";

	private static final String REMOVE_ENTRIES = """
			UPDATE {table} SET first_waiter = NULLIF(first_waiter, ?), second_waiter = NULLIF(second_waiter, ?)
			WHERE lock_key = ? AND (first_waiter = ? OR second_waiter = ?)""";

	private static final String RENEWALS = """
			UNNEST(CAST(? AS VARBINARY(2048) ARRAY), CAST(? AS VARCHAR(41) ARRAY), CAST(? AS BIGINT ARRAY)) AS w(k, o, lease)""";

	private static final String RENEW = """
			SELECT lock_key, owner FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (
					SELECT l.lock_key, l.owner, w.lease, n.now
					FROM {renewals} JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o,
						(VALUES CURRENT_TIMESTAMP(6)) n(now)
					WHERE l.expires_at > n.now FOR UPDATE SKIP LOCKED) s
				ON (t.lock_key = s.lock_key AND t.owner = s.owner AND t.expires_at > s.now)
				WHEN MATCHED THEN UPDATE SET expires_at = DATEADD(MICROSECOND, s.lease, s.now))""";

	private static final String STILL_HELD = """
			SELECT l.lock_key, l.owner FROM {renewals} JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o
			WHERE l.expires_at > CURRENT_TIMESTAMP(6)""";

	private static final String DELETABLE = """
			COALESCE(expires_at < DATEADD(MICROSECOND, -CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))
				AND grant_order < {now}, FALSE)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {deletable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String SWEEP = "DELETE FROM {table} WHERE lock_key = ANY(?) AND {deletable}";

	private static final String STATUS = """
			SELECT f.grant_order, {now} FROM (VALUES 1) one(n) LEFT JOIN (
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

	H2Dialect(String table) {
		this.schema = Sql.script("h2", table);
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
			.replace("{acquirable}", ACQUIRABLE)
			.replace("{displaced}", DISPLACED)
			.replace("{secondOpen}", SECOND_OPEN)
			.replace("{firstOpen}", FIRST_OPEN)
			.replace("{renewals}", RENEWALS)
			.replace("{deletable}", DELETABLE)
			.replace("{now}", NOW)
			.replace("{entry}", Long.toString(POLLED_ENTRY_MICROS))
			.replace("{reservation}", Long.toString(POLLED_RESERVATION_MICROS))
			.replace("{table}", table);
	}

	@Override
	public boolean isAbortable() {
		return false;
	}

	@Override
	public String schema() {
		return this.schema;
	}

	@Override
	public LockRow attempt(Connection connection, LockAttempt attempt) throws SQLException {
		return Sql.query(connection, this.attempt, LockRow::read, bytes(attempt.key()), attempt.owner(),
				attempt.leaseMicros(), attempt.holder(), attempt.process(), attempt.willWait(), attempt.sinceMicros())
			.get(0);
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
		Object[] batch = arrays(connection, renewals);
		Set<String> renewed = owned(connection, this.renew, batch);
		// A lease that was not renewed is unknown if its row is locked, else lost.
		Set<String> held = (renewed.size() < renewals.size()) ? owned(connection, this.stillHeld, batch) : renewed;
		List<RenewalOutcome> outcomes = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			String id = renewal.owner() + renewal.key();
			outcomes.add(renewed.contains(id) ? RenewalOutcome.RENEWED
					: held.contains(id) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	private static Set<String> owned(Connection connection, String sql, Object[] batch) throws SQLException {
		return new HashSet<>(Sql.query(connection, sql, (row) -> row.getString(2) + text(row.getBytes(1)), batch));
	}

	private static Object[] arrays(Connection connection, List<Renewal> renewals) throws SQLException {
		Object[] keys = renewals.stream().map((renewal) -> bytes(renewal.key())).toArray();
		Object[] owners = renewals.stream().map(Renewal::owner).toArray();
		Object[] leases = renewals.stream().map(Renewal::leaseMicros).toArray();
		return new Object[] { connection.createArrayOf("VARBINARY", keys), connection.createArrayOf("VARCHAR", owners),
				connection.createArrayOf("BIGINT", leases) };
	}

	@Override
	public List<SweepCandidate> readSweepCandidates(Connection connection, String after, int limit,
			long retentionMicros) throws SQLException {
		return Sql.query(connection, this.candidates,
				(row) -> new SweepCandidate(text(row.getBytes(1)), row.getBoolean(2)), retentionMicros, bytes(after),
				limit);
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		Object[] bytes = keys.stream().map(H2Dialect::bytes).toArray();
		return Sql.update(connection, this.sweep, connection.createArrayOf("VARBINARY", bytes), retentionMicros);
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

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
