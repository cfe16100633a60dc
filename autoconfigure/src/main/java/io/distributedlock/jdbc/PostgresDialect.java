package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/** Dialect of PostgreSQL, tested on version 18. */
final class PostgresDialect implements Dialect {

	/** Length of a reservation. */
	private static final long RESERVATION_MICROS = 100_000;

	/** Validity of an entry: a contender that is notified polls about once a second. */
	private static final long ENTRY_MICROS = 3_000_000;

	private static final int MAX_CHANNEL_LENGTH = 63;

	private static final String COLUMNS = """
			owner, grant_order, holder,
			(extract(epoch FROM clock_timestamp() - acquired_at) * 1000000)::bigint,
			(extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint,
			first_waiter,
			(extract(epoch FROM first_waiter_since) * 1000000)::bigint,
			(extract(epoch FROM first_waiter_until - clock_timestamp()) * 1000000)::bigint,
			(extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
			second_waiter,
			(extract(epoch FROM second_waiter_since) * 1000000)::bigint,
			(extract(epoch FROM second_waiter_until - clock_timestamp()) * 1000000)::bigint
			""";

	private static final String ACQUIRABLE = """
			(l.owner IS NULL OR l.owner = 'reserved:' || EXCLUDED.first_waiter OR l.expires_at <= EXCLUDED.acquired_at)""";

	private static final String FIRST_OPEN = """
			(EXCLUDED.first_waiter_since IS NOT NULL AND l.owner <> EXCLUDED.owner AND (l.first_waiter IS NULL
				OR l.first_waiter = EXCLUDED.first_waiter OR l.first_waiter_until IS NULL
				OR l.first_waiter_until <= EXCLUDED.acquired_at OR l.first_waiter_since > EXCLUDED.first_waiter_since))""";

	private static final String DISPLACED = """
			({firstOpen} AND l.first_waiter <> EXCLUDED.first_waiter AND l.first_waiter_until > EXCLUDED.acquired_at
				AND (l.second_waiter IS NULL OR l.second_waiter = EXCLUDED.first_waiter
					OR l.second_waiter_until <= EXCLUDED.acquired_at OR l.second_waiter_since >= l.first_waiter_since))""";

	private static final String SECOND_OPEN = """
			(EXCLUDED.first_waiter_since IS NOT NULL AND l.owner <> EXCLUDED.owner AND NOT {firstOpen}
				AND (l.second_waiter IS NULL OR l.second_waiter = EXCLUDED.first_waiter
					OR l.second_waiter_until <= EXCLUDED.acquired_at OR l.second_waiter_since >= EXCLUDED.first_waiter_since))""";

	// Every CASE uses the one clock value of the subselect, which PostgreSQL does not
	// flatten because the function is volatile. A new row holds the parameters of the
	// attempt in its first entry, which has no end and so is not valid. A busy answer
	// commits asynchronously, because it delays the holder's release.
	private static final String ATTEMPT = """
			INSERT INTO {table} AS l
				(lock_key, owner, grant_order, expires_at, acquired_at, holder, first_waiter, first_waiter_since)
			SELECT ?, ?, (extract(epoch FROM t.now) * 1000000)::bigint, t.now + ?::bigint * interval '1 microsecond',
				t.now, ?, ?, CASE WHEN ?::boolean
					THEN coalesce(timestamptz 'epoch' + ?::bigint * interval '1 microsecond', t.now) END
			FROM (SELECT clock_timestamp() AS now) t
			ON CONFLICT (lock_key) DO UPDATE SET
				owner = CASE WHEN {acquirable} THEN EXCLUDED.owner
					ELSE CASE WHEN set_config('synchronous_commit', 'off', true) IS NOT NULL THEN l.owner END END,
				grant_order = CASE WHEN {acquirable} THEN greatest(l.grant_order + 1, EXCLUDED.grant_order)
					ELSE l.grant_order END,
				expires_at = CASE WHEN {acquirable} THEN EXCLUDED.expires_at ELSE l.expires_at END,
				acquired_at = CASE WHEN {acquirable} THEN EXCLUDED.acquired_at ELSE l.acquired_at END,
				holder = CASE WHEN {acquirable} THEN EXCLUDED.holder ELSE l.holder END,
				first_waiter = CASE WHEN {acquirable} THEN nullif(l.first_waiter, EXCLUDED.first_waiter)
					WHEN {firstOpen} THEN EXCLUDED.first_waiter ELSE l.first_waiter END,
				first_waiter_since = CASE WHEN {acquirable} OR NOT {firstOpen} THEN l.first_waiter_since
					ELSE EXCLUDED.first_waiter_since END,
				first_waiter_until = CASE WHEN {acquirable} OR NOT {firstOpen} THEN l.first_waiter_until
					ELSE EXCLUDED.acquired_at + {entry} * interval '1 microsecond' END,
				second_waiter = CASE WHEN {acquirable} THEN nullif(l.second_waiter, EXCLUDED.first_waiter)
					WHEN {displaced} THEN l.first_waiter WHEN {firstOpen} THEN nullif(l.second_waiter, EXCLUDED.first_waiter)
					WHEN {secondOpen} THEN EXCLUDED.first_waiter ELSE l.second_waiter END,
				second_waiter_since = CASE WHEN {acquirable} THEN l.second_waiter_since
					WHEN {displaced} THEN l.first_waiter_since
					WHEN {secondOpen} THEN EXCLUDED.first_waiter_since ELSE l.second_waiter_since END,
				second_waiter_until = CASE WHEN {acquirable} THEN l.second_waiter_until
					WHEN {displaced} THEN l.first_waiter_until
					WHEN {secondOpen} THEN EXCLUDED.acquired_at + {entry} * interval '1 microsecond' ELSE l.second_waiter_until END
			RETURNING {columns}""";

	private static final String READ = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	// A release commits asynchronously: if a crash undoes it, the lease still expires.
	private static final String RELEASE = """
			UPDATE {table} l SET
				owner = CASE WHEN l.first_waiter <> t.process AND l.first_waiter_until > t.now
					THEN 'reserved:' || l.first_waiter END,
				expires_at = CASE WHEN l.first_waiter <> t.process AND l.first_waiter_until > t.now
					THEN t.now + {reservation} * interval '1 microsecond' ELSE t.now END,
				first_waiter = CASE WHEN l.second_waiter <> t.process AND l.second_waiter_until > t.now
					THEN l.second_waiter END,
				first_waiter_since = l.second_waiter_since, first_waiter_until = l.second_waiter_until, second_waiter = NULL
			FROM (SELECT clock_timestamp() AS now, ?::text AS process) t
			WHERE l.lock_key = ? AND l.owner = ? AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING CASE WHEN l.owner LIKE 'reserved:%' OR l.first_waiter IS NOT NULL THEN pg_notify('{channel}', l.lock_key)::text END""";

	// Notifies in any case: another contender may now enter the wait queue.
	private static final String REMOVE_ENTRIES = """
			UPDATE {table} l SET
				first_waiter = nullif(l.first_waiter, t.process), second_waiter = nullif(l.second_waiter, t.process)
			FROM (SELECT ?::text AS process) t
			WHERE l.lock_key = ? AND (l.first_waiter = t.process OR l.second_waiter = t.process)
				AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING pg_notify('{channel}', l.lock_key)::text""";

	private static final String RENEW = """
			WITH batch AS (
				SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[]) WITH ORDINALITY AS w(k, o, lease, i)),
			locked AS (
				SELECT l.lock_key, l.owner, w.lease FROM batch w JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o
				WHERE l.expires_at > clock_timestamp() ORDER BY l.lock_key FOR NO KEY UPDATE OF l SKIP LOCKED),
			renewed AS (
				UPDATE {table} d SET expires_at = clock_timestamp() + m.lease * interval '1 microsecond' FROM locked m
				WHERE d.lock_key = m.lock_key AND d.owner = m.owner RETURNING d.lock_key, d.owner)
			SELECT d.lock_key IS NOT NULL,
				coalesce(l.owner = w.o AND l.expires_at > clock_timestamp(), false)
			FROM batch w LEFT JOIN renewed d ON d.lock_key = w.k AND d.owner = w.o LEFT JOIN {table} l ON l.lock_key = w.k
			ORDER BY w.i""";

	private static final String DELETABLE = """
			coalesce(expires_at < clock_timestamp() - ?::bigint * interval '1 microsecond'
				AND grant_order < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, false)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {deletable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String SWEEP = "DELETE FROM {table} WHERE lock_key = ANY(?) AND {deletable}";

	private static final String STATUS = """
			SELECT f.grant_order, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
			FROM (SELECT 1) one LEFT JOIN (
				SELECT lock_key, owner, grant_order, expires_at, acquired_at, holder,
					first_waiter, first_waiter_since, first_waiter_until,
					second_waiter, second_waiter_since, second_waiter_until
				FROM {table} WHERE lock_key = ?) f ON true""";

	private final String channel;

	private final String schema;

	private final String attempt;

	private final String read;

	private final String release;

	private final String removeEntries;

	private final String renew;

	private final String candidates;

	private final String sweep;

	private final String status;

	PostgresDialect(String table) {
		this.channel = channel(table);
		this.schema = Sql.script("postgresql", table);
		this.attempt = fill(ATTEMPT, table);
		this.read = fill(READ, table);
		this.release = fill(RELEASE, table);
		this.removeEntries = fill(REMOVE_ENTRIES, table);
		this.renew = fill(RENEW, table);
		this.candidates = fill(CANDIDATES, table);
		this.sweep = fill(SWEEP, table);
		this.status = fill(STATUS, table);
	}

	/**
	 * Returns the table's name without its schema, which processes can name differently.
	 * Tables that share a channel only cause needless attempts.
	 */
	private static String channel(String table) {
		String name = table.toLowerCase(Locale.ROOT).substring(table.lastIndexOf('.') + 1);
		return name.substring(Math.max(0, name.length() - MAX_CHANNEL_LENGTH));
	}

	private static String fill(String sql, String table) {
		return sql.replace("{columns}", COLUMNS)
			.replace("{acquirable}", ACQUIRABLE)
			.replace("{displaced}", DISPLACED)
			.replace("{secondOpen}", SECOND_OPEN)
			.replace("{firstOpen}", FIRST_OPEN)
			.replace("{deletable}", DELETABLE)
			.replace("{entry}", Long.toString(ENTRY_MICROS))
			.replace("{reservation}", Long.toString(RESERVATION_MICROS))
			.replace("{channel}", channel(table))
			.replace("{table}", table);
	}

	@Override
	public boolean isAbortable() {
		return true;
	}

	@Override
	public long reservationMicros() {
		return RESERVATION_MICROS;
	}

	@Override
	public long entryMicros() {
		return ENTRY_MICROS;
	}

	@Override
	public String channel() {
		return this.channel;
	}

	@Override
	public String schema() {
		return this.schema;
	}

	@Override
	public LockRow attempt(Connection connection, LockAttempt attempt) throws SQLException {
		return Sql
			.query(connection, this.attempt, LockRow::read, attempt.key(), attempt.owner(), attempt.leaseMicros(),
					attempt.holder(), attempt.process(), attempt.willWait(), attempt.sinceMicros())
			.get(0);
	}

	@Override
	public @Nullable LockRow read(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, this.read, LockRow::read, key);
		return rows.isEmpty() ? null : rows.get(0);
	}

	@Override
	public boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return !Sql.query(connection, this.release, PostgresDialect::isNotified, process, key, owner).isEmpty();
	}

	@Override
	public boolean removeEntries(Connection connection, String key, String process) throws SQLException {
		return !Sql.query(connection, this.removeEntries, PostgresDialect::isNotified, process, key).isEmpty();
	}

	private static boolean isNotified(ResultSet row) throws SQLException {
		return row.getString(1) != null;
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		Object[] keys = renewals.stream().map(Renewal::key).toArray();
		Object[] owners = renewals.stream().map(Renewal::owner).toArray();
		Object[] leases = renewals.stream().map(Renewal::leaseMicros).toArray();
		return Sql.query(connection, this.renew,
				(row) -> row.getBoolean(1) ? RenewalOutcome.RENEWED
						: row.getBoolean(2) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD,
				connection.createArrayOf("text", keys), connection.createArrayOf("text", owners),
				connection.createArrayOf("bigint", leases));
	}

	@Override
	public List<SweepCandidate> readSweepCandidates(Connection connection, String after, int limit,
			long retentionMicros) throws SQLException {
		return Sql.query(connection, this.candidates, (row) -> new SweepCandidate(row.getString(1), row.getBoolean(2)),
				retentionMicros, after, limit);
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		return Sql.update(connection, this.sweep, connection.createArrayOf("text", keys.toArray()), retentionMicros);
	}

	@Override
	public TableStatus readStatus(Connection connection) throws SQLException {
		return Sql
			.query(connection, this.status, (row) -> new TableStatus(row.getLong(1), row.getLong(2)),
					LockKeyEncoder.FORMAT_ROW)
			.get(0);
	}

}
