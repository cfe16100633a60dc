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
 * H2, in memory, in a file or as a server, in its own and its compatibility modes. Keys
 * are bytes: text columns may be told to ignore case there.
 */
final class H2Dialect implements Dialect {

	private static final String COLUMNS = """
			owner, lease_order, holder,
			{now} - CAST(EXTRACT(EPOCH FROM acquired_at) * 1000000 AS BIGINT),
			CAST(EXTRACT(EPOCH FROM expires_at) * 1000000 AS BIGINT) - {now},
			first_waiter,
			CAST(EXTRACT(EPOCH FROM first_since) * 1000000 AS BIGINT),
			CAST(EXTRACT(EPOCH FROM first_until) * 1000000 AS BIGINT) - {now},
			{now},
			second_waiter,
			CAST(EXTRACT(EPOCH FROM second_since) * 1000000 AS BIGINT),
			CAST(EXTRACT(EPOCH FROM second_until) * 1000000 AS BIGINT) - {now}
			""";

	private static final String NOW = "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";

	private static final String TAKEABLE = """
			(t.owner IS NULL OR t.owner = 'reserved:' || s.process OR t.expires_at <= s.now)""";

	private static final String PLACE_OPEN = """
			(s.since IS NOT NULL AND t.owner <> s.owner AND (t.first_waiter IS NULL OR t.first_waiter = s.process
				OR t.first_until IS NULL OR t.first_until <= s.now OR t.first_since > s.since))""";

	private static final String DISPLACED = """
			({placeOpen} AND t.first_waiter <> s.process AND t.first_until > s.now
				AND (t.second_waiter IS NULL OR t.second_waiter = s.process OR t.second_until <= s.now
					OR t.second_since >= t.first_since))""";

	private static final String SECOND = """
			(s.since IS NOT NULL AND t.owner <> s.owner AND NOT {placeOpen}
				AND (t.second_waiter IS NULL OR t.second_waiter = s.process OR t.second_until <= s.now
					OR t.second_since >= s.since))""";

	private static final String ATTEMPT = """
			SELECT {columns} FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (
					SELECT CAST(? AS VARBINARY(2048)) AS lock_key, CAST(? AS VARCHAR(41)) AS owner,
						CAST(EXTRACT(EPOCH FROM n.now) * 1000000 AS BIGINT) AS lease_order,
						DATEADD(MICROSECOND, CAST(? AS BIGINT), n.now) AS expires_at, n.now AS now,
						CAST(? AS VARCHAR(255)) AS holder, CAST(? AS VARCHAR(32)) AS process,
						CASE WHEN CAST(? AS BOOLEAN) THEN COALESCE(DATEADD(MICROSECOND, CAST(? AS BIGINT),
							TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'), n.now) END AS since
					FROM (VALUES CURRENT_TIMESTAMP(6)) n(now)) s
				ON (t.lock_key = s.lock_key)
				WHEN MATCHED THEN UPDATE SET
					owner = CASE WHEN {takeable} THEN s.owner ELSE t.owner END,
					lease_order = CASE WHEN {takeable} THEN GREATEST(t.lease_order + 1, s.lease_order)
						ELSE t.lease_order END,
					expires_at = CASE WHEN {takeable} THEN s.expires_at ELSE t.expires_at END,
					acquired_at = CASE WHEN {takeable} THEN s.now ELSE t.acquired_at END,
					holder = CASE WHEN {takeable} THEN s.holder ELSE t.holder END,
					first_waiter = CASE WHEN {takeable} THEN NULLIF(t.first_waiter, s.process)
						WHEN {placeOpen} THEN s.process ELSE t.first_waiter END,
					first_since = CASE WHEN {takeable} OR NOT {placeOpen} THEN t.first_since ELSE s.since END,
					first_until = CASE WHEN {takeable} OR NOT {placeOpen} THEN t.first_until
						ELSE DATEADD(MICROSECOND, {place}, s.now) END,
					second_waiter = CASE WHEN {takeable} THEN NULLIF(t.second_waiter, s.process)
						WHEN {displaced} THEN t.first_waiter WHEN {placeOpen} THEN NULLIF(t.second_waiter, s.process)
						WHEN {second} THEN s.process ELSE t.second_waiter END,
					second_since = CASE WHEN {takeable} THEN t.second_since WHEN {displaced} THEN t.first_since
						WHEN {second} THEN s.since ELSE t.second_since END,
					second_until = CASE WHEN {takeable} THEN t.second_until WHEN {displaced} THEN t.first_until
						WHEN {second} THEN DATEADD(MICROSECOND, {place}, s.now) ELSE t.second_until END
				WHEN NOT MATCHED THEN INSERT (lock_key, owner, lease_order, expires_at, acquired_at, holder)
					VALUES (s.lock_key, s.owner, s.lease_order, s.expires_at, s.now, s.holder))""";

	private static final String LOOK = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	private static final String RELEASE = """
			UPDATE {table} SET
				owner = CASE WHEN first_waiter <> ? AND first_until > CURRENT_TIMESTAMP(6) THEN 'reserved:' || first_waiter END,
				expires_at = CASE WHEN first_waiter <> ? AND first_until > CURRENT_TIMESTAMP(6)
					THEN DATEADD(MICROSECOND, {grace}, CURRENT_TIMESTAMP(6)) ELSE CURRENT_TIMESTAMP(6) END,
				first_waiter = CASE WHEN second_waiter <> ? AND second_until > CURRENT_TIMESTAMP(6) THEN second_waiter END,
				first_since = second_since, first_until = second_until, second_waiter = NULL
			WHERE lock_key = ? AND owner = ?""";

	private static final String LEAVE = """
			UPDATE {table} SET first_waiter = NULLIF(first_waiter, ?), second_waiter = NULLIF(second_waiter, ?)
			WHERE lock_key = ? AND (first_waiter = ? OR second_waiter = ?)""";

	private static final String WANT = """
			UNNEST(CAST(? AS VARBINARY(2048) ARRAY), CAST(? AS VARCHAR(41) ARRAY), CAST(? AS BIGINT ARRAY)) AS w(k, o, lease)""";

	private static final String RENEW = """
			SELECT lock_key, owner FROM FINAL TABLE (
				MERGE INTO {table} t
				USING (
					SELECT l.lock_key, l.owner, w.lease, n.now
					FROM {want} JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o,
						(VALUES CURRENT_TIMESTAMP(6)) n(now)
					WHERE l.expires_at > n.now FOR UPDATE SKIP LOCKED) s
				ON (t.lock_key = s.lock_key AND t.owner = s.owner AND t.expires_at > s.now)
				WHEN MATCHED THEN UPDATE SET expires_at = DATEADD(MICROSECOND, s.lease, s.now))""";

	private static final String STILL_OURS = """
			SELECT l.lock_key, l.owner FROM {want} JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o
			WHERE l.expires_at > CURRENT_TIMESTAMP(6)""";

	private static final String SWEEPABLE = """
			COALESCE(expires_at < DATEADD(MICROSECOND, -CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))
				AND lease_order < {now}, FALSE)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {sweepable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String SWEEP = "DELETE FROM {table} WHERE lock_key = ANY(?) AND {sweepable}";

	private static final String PROBE = """
			SELECT f.lease_order, {now} FROM (VALUES 1) one(n) LEFT JOIN (
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

	H2Dialect(String table) {
		this.schema = Sql.script("h2", table);
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
			.replace("{takeable}", TAKEABLE)
			.replace("{displaced}", DISPLACED)
			.replace("{second}", SECOND)
			.replace("{placeOpen}", PLACE_OPEN)
			.replace("{want}", WANT)
			.replace("{sweepable}", SWEEPABLE)
			.replace("{now}", NOW)
			.replace("{place}", Long.toString(Claim.PLACE))
			.replace("{grace}", Long.toString(Claim.GRACE))
			.replace("{table}", table);
	}

	@Override
	public boolean abortable() {
		return false;
	}

	@Override
	public String schema() {
		return this.schema;
	}

	@Override
	public LockRow attempt(Connection connection, Claim claim) throws SQLException {
		return Sql
			.query(connection, this.attempt, LockRow::read, bytes(claim.key()), claim.owner(), claim.lease(),
					claim.holder(), claim.process(), claim.willWait(), claim.since())
			.get(0);
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
		Object[] want = arrays(connection, renewals);
		Set<String> renewed = owned(connection, this.renew, want);
		// Only what was not renewed asks why: locked by somebody just now, or no longer
		// ours.
		Set<String> ours = (renewed.size() < renewals.size()) ? owned(connection, this.stillOurs, want) : renewed;
		List<RenewalOutcome> outcomes = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			String id = renewal.owner() + renewal.key();
			outcomes.add(renewed.contains(id) ? RenewalOutcome.RENEWED
					: ours.contains(id) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	private static Set<String> owned(Connection connection, String sql, Object[] want) throws SQLException {
		return new HashSet<>(Sql.query(connection, sql, (row) -> row.getString(2) + text(row.getBytes(1)), want));
	}

	private static Object[] arrays(Connection connection, List<Renewal> renewals) throws SQLException {
		Object[] keys = renewals.stream().map((renewal) -> bytes(renewal.key())).toArray();
		Object[] owners = renewals.stream().map(Renewal::owner).toArray();
		Object[] leases = renewals.stream().map(Renewal::lease).toArray();
		return new Object[] { connection.createArrayOf("VARBINARY", keys), connection.createArrayOf("VARCHAR", owners),
				connection.createArrayOf("BIGINT", leases) };
	}

	@Override
	public List<Candidate> candidates(Connection connection, String after, int limit, long retention)
			throws SQLException {
		return Sql.query(connection, this.candidates, (row) -> new Candidate(text(row.getBytes(1)), row.getBoolean(2)),
				retention, bytes(after), limit);
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retention) throws SQLException {
		Object[] bytes = keys.stream().map(H2Dialect::bytes).toArray();
		return Sql.update(connection, this.sweep, connection.createArrayOf("VARBINARY", bytes), retention);
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

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
