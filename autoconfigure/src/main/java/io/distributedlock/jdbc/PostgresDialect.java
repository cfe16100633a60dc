package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/** PostgreSQL, tested on version 18. */
final class PostgresDialect implements Dialect {

	/** For how long a released lock is kept for who has the place. */
	private static final long GRACE = 100_000;

	/** Who is told of releases looks only once a second, and still has the place. */
	private static final long PLACE = 3_000_000;

	private static final int CHANNEL_LENGTH = 63;

	private static final String COLUMNS = """
			owner, lease_order, holder,
			(extract(epoch FROM clock_timestamp() - acquired_at) * 1000000)::bigint,
			(extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint,
			first_waiter,
			(extract(epoch FROM first_since) * 1000000)::bigint,
			(extract(epoch FROM first_until - clock_timestamp()) * 1000000)::bigint,
			(extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
			second_waiter,
			(extract(epoch FROM second_since) * 1000000)::bigint,
			(extract(epoch FROM second_until - clock_timestamp()) * 1000000)::bigint
			""";

	private static final String TAKEABLE = """
			(l.owner IS NULL OR l.owner = 'reserved:' || EXCLUDED.first_waiter OR l.expires_at <= EXCLUDED.acquired_at)""";

	private static final String PLACE_OPEN = """
			(EXCLUDED.first_since IS NOT NULL AND l.owner <> EXCLUDED.owner AND (l.first_waiter IS NULL
				OR l.first_waiter = EXCLUDED.first_waiter OR l.first_until IS NULL
				OR l.first_until <= EXCLUDED.acquired_at OR l.first_since > EXCLUDED.first_since))""";

	private static final String DISPLACED = """
			({placeOpen} AND l.first_waiter <> EXCLUDED.first_waiter AND l.first_until > EXCLUDED.acquired_at
				AND (l.second_waiter IS NULL OR l.second_waiter = EXCLUDED.first_waiter
					OR l.second_until <= EXCLUDED.acquired_at OR l.second_since >= l.first_since))""";

	private static final String SECOND = """
			(EXCLUDED.first_since IS NOT NULL AND l.owner <> EXCLUDED.owner AND NOT {placeOpen}
				AND (l.second_waiter IS NULL OR l.second_waiter = EXCLUDED.first_waiter
					OR l.second_until <= EXCLUDED.acquired_at OR l.second_since >= EXCLUDED.first_since))""";

	// Every CASE judges by the one clock value of the subselect, which a volatile
	// function keeps from being flattened. What the row would hold as a new one carries
	// the claim:
	// its place has no end, and so counts as empty.
	private static final String ATTEMPT = """
			INSERT INTO {table} AS l
				(lock_key, owner, lease_order, expires_at, acquired_at, holder, first_waiter, first_since)
			SELECT ?, ?, (extract(epoch FROM t.now) * 1000000)::bigint, t.now + ?::bigint * interval '1 microsecond',
				t.now, ?, ?, CASE WHEN ?::boolean
					THEN coalesce(timestamptz 'epoch' + ?::bigint * interval '1 microsecond', t.now) END
			FROM (SELECT clock_timestamp() AS now) t
			ON CONFLICT (lock_key) DO UPDATE SET
				owner = CASE WHEN {takeable} THEN EXCLUDED.owner
					ELSE CASE WHEN set_config('synchronous_commit', 'off', true) IS NOT NULL THEN l.owner END END,
				lease_order = CASE WHEN {takeable} THEN greatest(l.lease_order + 1, EXCLUDED.lease_order)
					ELSE l.lease_order END,
				expires_at = CASE WHEN {takeable} THEN EXCLUDED.expires_at ELSE l.expires_at END,
				acquired_at = CASE WHEN {takeable} THEN EXCLUDED.acquired_at ELSE l.acquired_at END,
				holder = CASE WHEN {takeable} THEN EXCLUDED.holder ELSE l.holder END,
				first_waiter = CASE WHEN {takeable} THEN nullif(l.first_waiter, EXCLUDED.first_waiter)
					WHEN {placeOpen} THEN EXCLUDED.first_waiter ELSE l.first_waiter END,
				first_since = CASE WHEN {takeable} OR NOT {placeOpen} THEN l.first_since ELSE EXCLUDED.first_since END,
				first_until = CASE WHEN {takeable} OR NOT {placeOpen} THEN l.first_until
					ELSE EXCLUDED.acquired_at + {place} * interval '1 microsecond' END,
				second_waiter = CASE WHEN {takeable} THEN nullif(l.second_waiter, EXCLUDED.first_waiter)
					WHEN {displaced} THEN l.first_waiter WHEN {placeOpen} THEN nullif(l.second_waiter, EXCLUDED.first_waiter)
					WHEN {second} THEN EXCLUDED.first_waiter ELSE l.second_waiter END,
				second_since = CASE WHEN {takeable} THEN l.second_since WHEN {displaced} THEN l.first_since
					WHEN {second} THEN EXCLUDED.first_since ELSE l.second_since END,
				second_until = CASE WHEN {takeable} THEN l.second_until WHEN {displaced} THEN l.first_until
					WHEN {second} THEN EXCLUDED.acquired_at + {place} * interval '1 microsecond' ELSE l.second_until END
			RETURNING {columns}""";

	private static final String LOOK = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	// An ended lock needs no synchronous commit: lost in a crash, its lease ends it all
	// the same.
	private static final String RELEASE = """
			UPDATE {table} l SET
				owner = CASE WHEN l.first_waiter <> t.process AND l.first_until > t.now THEN 'reserved:' || l.first_waiter END,
				expires_at = CASE WHEN l.first_waiter <> t.process AND l.first_until > t.now
					THEN t.now + {grace} * interval '1 microsecond' ELSE t.now END,
				first_waiter = CASE WHEN l.second_waiter <> t.process AND l.second_until > t.now THEN l.second_waiter END,
				first_since = l.second_since, first_until = l.second_until, second_waiter = NULL
			FROM (SELECT clock_timestamp() AS now, ?::text AS process) t
			WHERE l.lock_key = ? AND l.owner = ? AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING CASE WHEN l.owner LIKE 'reserved:%' OR l.first_waiter IS NOT NULL THEN pg_notify('{channel}', l.lock_key)::text END""";

	// Told in any case: whoever waits without a place may now have it.
	private static final String LEAVE = """
			UPDATE {table} l SET
				first_waiter = nullif(l.first_waiter, t.process), second_waiter = nullif(l.second_waiter, t.process)
			FROM (SELECT ?::text AS process) t
			WHERE l.lock_key = ? AND (l.first_waiter = t.process OR l.second_waiter = t.process)
				AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING pg_notify('{channel}', l.lock_key)::text""";

	private static final String RENEW = """
			WITH want AS (
				SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[]) WITH ORDINALITY AS w(k, o, lease, i)),
			mine AS (
				SELECT l.lock_key, l.owner, w.lease FROM want w JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o
				WHERE l.expires_at > clock_timestamp() ORDER BY l.lock_key FOR NO KEY UPDATE OF l SKIP LOCKED),
			done AS (
				UPDATE {table} d SET expires_at = clock_timestamp() + m.lease * interval '1 microsecond' FROM mine m
				WHERE d.lock_key = m.lock_key AND d.owner = m.owner RETURNING d.lock_key, d.owner)
			SELECT d.lock_key IS NOT NULL,
				coalesce(l.owner = w.o AND l.expires_at > clock_timestamp(), false)
			FROM want w LEFT JOIN done d ON d.lock_key = w.k AND d.owner = w.o LEFT JOIN {table} l ON l.lock_key = w.k
			ORDER BY w.i""";

	private static final String SWEEPABLE = """
			coalesce(expires_at < clock_timestamp() - ?::bigint * interval '1 microsecond'
				AND lease_order < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, false)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {sweepable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String SWEEP = "DELETE FROM {table} WHERE lock_key = ANY(?) AND {sweepable}";

	private static final String PROBE = """
			SELECT f.lease_order, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
			FROM (SELECT 1) one LEFT JOIN (
				SELECT lock_key, owner, lease_order, expires_at, acquired_at, holder, first_waiter, first_since, first_until,
					second_waiter, second_since, second_until
				FROM {table} WHERE lock_key = ?) f ON true""";

	private final String channel;

	private final String schema;

	private final String attempt;

	private final String look;

	private final String release;

	private final String leave;

	private final String renew;

	private final String candidates;

	private final String sweep;

	private final String probe;

	PostgresDialect(String table) {
		this.channel = channel(table);
		this.schema = Sql.script("postgresql", table);
		this.attempt = fill(ATTEMPT, table);
		this.look = fill(LOOK, table);
		this.release = fill(RELEASE, table);
		this.leave = fill(LEAVE, table);
		this.renew = fill(RENEW, table);
		this.candidates = fill(CANDIDATES, table);
		this.sweep = fill(SWEEP, table);
		this.probe = fill(PROBE, table);
	}

	/**
	 * The table's name without its schema, which not everybody may spell out. Tables that
	 * meet in one channel wake each other's waiters in vain, no more.
	 */
	private static String channel(String table) {
		String name = table.toLowerCase(Locale.ROOT).substring(table.lastIndexOf('.') + 1);
		return name.substring(Math.max(0, name.length() - CHANNEL_LENGTH));
	}

	private static String fill(String sql, String table) {
		return sql.replace("{columns}", COLUMNS)
			.replace("{takeable}", TAKEABLE)
			.replace("{displaced}", DISPLACED)
			.replace("{second}", SECOND)
			.replace("{placeOpen}", PLACE_OPEN)
			.replace("{sweepable}", SWEEPABLE)
			.replace("{place}", Long.toString(PLACE))
			.replace("{grace}", Long.toString(GRACE))
			.replace("{channel}", channel(table))
			.replace("{table}", table);
	}

	@Override
	public boolean abortable() {
		return true;
	}

	@Override
	public long grace() {
		return GRACE;
	}

	@Override
	public long place() {
		return PLACE;
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
	public LockRow attempt(Connection connection, Claim claim) throws SQLException {
		return Sql
			.query(connection, this.attempt, LockRow::read, claim.key(), claim.owner(), claim.lease(), claim.holder(),
					claim.process(), claim.willWait(), claim.since())
			.get(0);
	}

	@Override
	public @Nullable LockRow look(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, this.look, LockRow::read, key);
		return rows.isEmpty() ? null : rows.get(0);
	}

	@Override
	public boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return !Sql.query(connection, this.release, PostgresDialect::told, process, key, owner).isEmpty();
	}

	@Override
	public boolean leave(Connection connection, String key, String process) throws SQLException {
		return !Sql.query(connection, this.leave, PostgresDialect::told, process, key).isEmpty();
	}

	private static boolean told(ResultSet row) throws SQLException {
		return row.getString(1) != null;
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		Object[] keys = renewals.stream().map(Renewal::key).toArray();
		Object[] owners = renewals.stream().map(Renewal::owner).toArray();
		Object[] leases = renewals.stream().map(Renewal::lease).toArray();
		return Sql.query(connection, this.renew,
				(row) -> row.getBoolean(1) ? RenewalOutcome.RENEWED
						: row.getBoolean(2) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD,
				connection.createArrayOf("text", keys), connection.createArrayOf("text", owners),
				connection.createArrayOf("bigint", leases));
	}

	@Override
	public List<Candidate> candidates(Connection connection, String after, int limit, long retention)
			throws SQLException {
		return Sql.query(connection, this.candidates, (row) -> new Candidate(row.getString(1), row.getBoolean(2)),
				retention, after, limit);
	}

	@Override
	public int sweep(Connection connection, List<String> keys, long retention) throws SQLException {
		return Sql.update(connection, this.sweep, connection.createArrayOf("text", keys.toArray()), retention);
	}

	@Override
	public Probe probe(Connection connection) throws SQLException {
		return Sql.query(connection, this.probe, (row) -> new Probe(row.getLong(1), row.getLong(2)), StoreKeys.FORMAT)
			.get(0);
	}

}
