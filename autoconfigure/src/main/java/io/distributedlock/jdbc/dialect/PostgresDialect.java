package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

import org.postgresql.PGConnection;

import org.springframework.util.ClassUtils;

import io.distributedlock.provider.RenewalOutcome;

/** Dialect of PostgreSQL, tested on version 18. */
public final class PostgresDialect extends Dialect {

	/** Length of a reservation. */
	private static final long RESERVATION_MICROS = 100_000;

	/** Validity of an entry: a contender that is notified polls about once a second. */
	private static final long ENTRY_MICROS = 3_000_000;

	/** Whether the driver is PostgreSQL's own, which knows of its session. */
	private static final boolean DRIVER = ClassUtils.isPresent("org.postgresql.PGConnection",
			PostgresDialect.class.getClassLoader());

	private static final int MAX_CHANNEL_LENGTH = 63;

	/** Only on Linux can the server see that a client is gone. */
	private static final String SESSION = """
			SELECT set_config('lock_timeout', '%d', false), set_config('statement_timeout', '%d', false),
				CASE WHEN current_setting('client_connection_check_interval', true) IS NOT NULL
					AND version() LIKE '%%linux%%'
				THEN set_config('client_connection_check_interval', '%d', false) END""";

	// Every CASE uses the one clock value of the subselect, which PostgreSQL does not
	// flatten because the function is volatile. A new row holds the parameters of the
	// attempt in its first entry, which has no end and so is not valid.
	private static final String ATTEMPT = """
			INSERT INTO {table} AS l ({names})
			SELECT ?, ?, t.now, t.now + ?::bigint, t.now, ?, ?, least(?::bigint, t.now), 0, {none}, 0, 0
			FROM (SELECT {clock} AS now) t
			ON CONFLICT (lock_key) DO UPDATE SET {attempt}
			RETURNING {columns}""";

	// A row that is not free is locked all the same.
	private static final String ATTEMPT_FREE = """
			INSERT INTO {table} AS l ({names})
			SELECT ?, ?, t.now, t.now + ?::bigint, t.now, ?, {noEntries} FROM (SELECT {clock} AS now) t
			ON CONFLICT (lock_key) DO UPDATE SET owner = {newOwner}, grant_order = {raisedOrder},
				expires_at = {leaseEnd}, acquired_at = {now}, holder = {newHolder}
			WHERE CASE WHEN {uncontended} THEN true ELSE set_config('synchronous_commit', 'off', true) IS NULL END
			RETURNING grant_order""";

	/** A busy answer commits asynchronously, because it delays the holder's release. */
	private static final String BUSY_OWNER = """
			CASE WHEN set_config('synchronous_commit', 'off', true) IS NOT NULL THEN l.owner END""";

	/** Notifies contenders of the row's new state by a {@link NotificationPayload}. */
	private static final String NOTIFY = """
			pg_notify('{channel}', concat_ws(' ',
				CASE WHEN l.owner LIKE 'reserved:%' THEN substr(l.owner, 10) ELSE {none} END,
				l.first_waiter, l.first_waiter_since, l.lock_key))::text""";

	// A release commits asynchronously: if a crash undoes it, the lease still expires.
	private static final String RELEASE = """
			UPDATE {table} l SET {release}
			FROM (SELECT {clock} AS now, ?::text AS process) t
			WHERE l.lock_key = ? AND l.owner = ? AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING CASE WHEN l.owner LIKE 'reserved:%' OR l.first_waiter <> {none}
				THEN {notify} END""";

	// Waiting contenders see until when the row is kept, instead of the lease.
	private static final String KEEP = """
			UPDATE {table} l SET owner = {kept}, expires_at = {clock} + ?
			WHERE l.lock_key = ? AND l.owner = ? AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING CASE WHEN l.first_waiter <> {none} THEN {notify} END""";

	// Notifies in any case: another contender may now enter the wait queue.
	private static final String REMOVE_ENTRIES = """
			UPDATE {table} l SET
				first_waiter = CASE WHEN l.first_waiter = t.process THEN {none} ELSE l.first_waiter END,
				second_waiter = CASE WHEN l.second_waiter = t.process THEN {none} ELSE l.second_waiter END
			FROM (SELECT ?::text AS process) t
			WHERE l.lock_key = ? AND (l.first_waiter = t.process OR l.second_waiter = t.process)
				AND set_config('synchronous_commit', 'off', true) IS NOT NULL
			RETURNING {notify}""";

	private static final String NOTIFY_FIRST = "SELECT {notify} FROM {table} l WHERE l.lock_key = ?";

	private static final String RENEW = """
			WITH batch AS (
				SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[]) WITH ORDINALITY AS w(k, o, lease, i)),
			locked AS (
				SELECT l.lock_key, l.owner, w.lease FROM batch w JOIN {table} l ON l.lock_key = w.k AND l.owner = w.o
				WHERE l.expires_at > {clock} ORDER BY l.lock_key FOR NO KEY UPDATE OF l SKIP LOCKED),
			renewed AS (
				UPDATE {table} d SET expires_at = {clock} + m.lease FROM locked m
				WHERE d.lock_key = m.lock_key AND d.owner = m.owner RETURNING d.lock_key, d.owner)
			SELECT d.lock_key IS NOT NULL,
				coalesce(l.owner = w.o AND l.expires_at > {clock}, false)
			FROM batch w LEFT JOIN renewed d ON d.lock_key = w.k AND d.owner = w.o LEFT JOIN {table} l ON l.lock_key = w.k
			ORDER BY w.i""";

	/** Is refused without a unique index of the key. */
	private static final String INSERT_NOTHING_TWICE = """
			INSERT INTO {table} (lock_key, grant_order) SELECT ?, 1 WHERE false ON CONFLICT (lock_key) DO NOTHING""";

	private static final String NO_UNIQUE_INDEX = "42P10";

	private final String channel;

	public PostgresDialect(String table) {
		super("postgresql", table, words(channel(table)), ATTEMPT, ATTEMPT_FREE);
		this.channel = channel(table);
	}

	private static SqlWords words(String channel) {
		return SqlWords.of("row", "l.")
			.with("now", "EXCLUDED.acquired_at")
			.with("process", "EXCLUDED.first_waiter")
			.with("newOwner", "EXCLUDED.owner")
			.with("newHolder", "EXCLUDED.holder")
			.with("leaseEnd", "EXCLUDED.expires_at")
			.with("since", "EXCLUDED.first_waiter_since")
			.with("entryMicros", Long.toString(ENTRY_MICROS))
			.with("reservedFor", "'reserved:' || %s")
			.with("granted", "{acquirable}")
			.with("grantedOrder", "{raisedOrder}")
			.with("keptOrder", "l.grant_order")
			.with("busyOwner", BUSY_OWNER)
			.with("releasedAt", "t.now")
			.with("releaser", "t.process")
			.with("reservationMicros", Long.toString(RESERVATION_MICROS))
			.with("clock", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
			.with("limit", "LIMIT ?")
			.with("clockNow", "{clock}")
			.with("byKey", "")
			.with("notify", NOTIFY)
			.with("channel", channel);
	}

	/**
	 * Returns the table's name without its schema, which processes can name differently.
	 * Tables that share a channel only cause needless attempts.
	 */
	private static String channel(String table) {
		String name = table.toLowerCase(Locale.ROOT).substring(table.lastIndexOf('.') + 1);
		return name.substring(Math.max(0, name.length() - MAX_CHANNEL_LENGTH));
	}

	@Override
	boolean isKeyUnique(Connection connection) throws SQLException {
		try {
			Sql.update(connection, sql(INSERT_NOTHING_TWICE), LockKeyEncoder.NO_ROW);
			return true;
		}
		catch (SQLException ex) {
			if (NO_UNIQUE_INDEX.equals(ex.getSQLState())) {
				return false;
			}
			throw ex;
		}
	}

	@Override
	boolean isExact(int type) {
		return true;
	}

	@Override
	String keyType() {
		return "text";
	}

	@Override
	Object stored(String key) {
		return key;
	}

	@Override
	String key(ResultSet row, int column) throws SQLException {
		return row.getString(column);
	}

	@Override
	public List<String> sessionSettings(Duration callTimeout) {
		long millis = Math.max(callTimeout.toMillis(), 2);
		return List.of(SESSION.formatted(millis / 2, millis, millis));
	}

	/**
	 * The settings end with the transaction. A wait for a row is several waits for the
	 * lock time-out, each as long as that, so that the bound of statements ends it.
	 */
	@Override
	RowLockSession rowLockSession() {
		return new RowLockSession("pg_backend_pid()", (wait) -> "SET LOCAL statement_timeout = " + wait.toMillis(),
				(idle) -> "SET LOCAL idle_in_transaction_session_timeout = "
						+ Math.min(idle.toMillis() + 1, Integer.MAX_VALUE),
				null);
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

	/**
	 * Leaves a session alone that a pooler can give to other clients, and keeps the
	 * driver from preparing statements on the server, because the next call may reach
	 * another session.
	 */
	@Override
	public void prepareSession(Connection connection, Duration callTimeout) throws SQLException {
		if (isPooled(connection)) {
			connection.unwrap(PGConnection.class).setPrepareThreshold(0);
		}
		else {
			super.prepareSession(connection, callTimeout);
		}
	}

	/**
	 * A pooler such as PgBouncer announces a process id of its own instead of that of the
	 * server's process, and may give each transaction another session.
	 */
	@Override
	public boolean isPooled(Connection connection) throws SQLException {
		return DRIVER && connection.isWrapperFor(PGConnection.class)
				&& connection.unwrap(PGConnection.class).getBackendPID() != processId(connection);
	}

	/** Whether the driver is present, and can create objects of a class by its name. */
	static boolean driverLoads(String className) {
		return DRIVER && ClassUtils.isPresent(className, PGConnection.class.getClassLoader());
	}

	/** Returns the id of the server's process that executes the statement. */
	public static int processId(Connection connection) throws SQLException {
		return Sql.query(connection, "SELECT pg_backend_pid()", (row) -> row.getInt(1)).get(0);
	}

	@Override
	public boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return !Sql.query(connection, sql(RELEASE), PostgresDialect::isNotified, process, key, owner).isEmpty();
	}

	@Override
	public boolean keep(Connection connection, String key, String owner, long keepMicros) throws SQLException {
		return !Sql.query(connection, sql(KEEP), PostgresDialect::isNotified, keepMicros, key, owner).isEmpty();
	}

	@Override
	public boolean removeEntries(Connection connection, String key, String process) throws SQLException {
		return !Sql.query(connection, sql(REMOVE_ENTRIES), PostgresDialect::isNotified, process, key).isEmpty();
	}

	private static boolean isNotified(ResultSet row) throws SQLException {
		return row.getString(1) != null;
	}

	@Override
	void notifyFirst(Connection connection, String key) throws SQLException {
		Sql.query(connection, sql(NOTIFY_FIRST), PostgresDialect::isNotified, key);
	}

	@Override
	public List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException {
		return Sql.query(connection, sql(RENEW),
				(row) -> row.getBoolean(1) ? RenewalOutcome.RENEWED
						: row.getBoolean(2) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD,
				arrays(connection, renewals));
	}

}
