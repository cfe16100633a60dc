package io.distributedlock.jdbc.dialect;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.RenewalOutcome;

/**
 * Statements of one kind of database, which have all but their words in common. They run
 * in autocommit mode and take all times from the database's clock. Most steps are one
 * statement; the description of the package {@code io.distributedlock.jdbc} has the
 * recipe. Keys are bytes, unless a dialect compares texts byte by byte. Safe for use by
 * many threads.
 * <p>
 * All times are microseconds since 1970. The words that every dialect gives, besides
 * those of the {@link RowRule}: {@code clock} is the database's clock, and
 * {@code clockNow} the clock when a row is read.
 */
public abstract class Dialect {

	/** Validity of a wait-queue entry where contenders poll. */
	static final long POLLED_ENTRY_MICROS = 1_000_000;

	/** Length of a reservation where contenders poll: one poll bound. */
	public static final long POLLED_RESERVATION_MICROS = 250_000;

	/** The columns of {@link LockRow#read}. */
	private static final String COLUMNS = """
			{clockNow}, owner, grant_order, holder, acquired_at, expires_at,
				first_waiter, first_waiter_since, first_waiter_until,
				second_waiter, second_waiter_since, second_waiter_until""";

	private static final String READ = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	private static final String HELD = """
			SELECT {columns}, lock_key FROM {table} WHERE lock_key >= ? AND lock_key < ?
				AND owner <> {free} AND owner NOT LIKE 'reserved:%' AND expires_at >= {clock}
			ORDER BY lock_key {limit}""";

	/** Whether a lock ended longer than the retention ago, and its order is over. */
	private static final String DELETABLE = "expires_at < {clock} - ? AND grant_order < {clock}";

	private static final String CANDIDATES = """
			SELECT lock_key, CASE WHEN {deletable} THEN 1 ELSE 0 END
			FROM {table} WHERE lock_key > ? ORDER BY lock_key {limit}""";

	/** Has a row in any case, and names every column. */
	private static final String STATUS = """
			SELECT MAX(grant_order), {clock}, MAX(owner), MAX(expires_at), MAX(acquired_at), MAX(holder),
				MAX(first_waiter), MAX(first_waiter_since), MAX(first_waiter_until),
				MAX(second_waiter), MAX(second_waiter_since), MAX(second_waiter_until)
			FROM {table} WHERE lock_key = ?""";

	/** The key's column behind those of a row. */
	static final int KEY_OF_HELD = 13;

	private static final String UPDATE_NOTHING = """
			UPDATE {table} SET owner = owner, grant_order = grant_order, expires_at = expires_at,
				acquired_at = acquired_at, holder = holder, first_waiter = first_waiter,
				first_waiter_since = first_waiter_since, first_waiter_until = first_waiter_until,
				second_waiter = second_waiter, second_waiter_since = second_waiter_since,
				second_waiter_until = second_waiter_until
			WHERE lock_key = ?""";

	private static final String INSERT_NOTHING = """
			INSERT INTO {table} ({names}) SELECT {names} FROM {table} WHERE lock_key = ?""";

	private static final String RELEASE = "UPDATE {table} SET {release} WHERE lock_key = ? AND owner = ?";

	private static final String KEEP = """
			UPDATE {table} SET owner = {kept}, expires_at = {clock} + ? WHERE lock_key = ? AND owner = ?""";

	private static final String REMOVE_ENTRIES = """
			UPDATE {table} SET first_waiter = CASE WHEN first_waiter = ? THEN {none} ELSE first_waiter END,
				second_waiter = CASE WHEN second_waiter = ? THEN {none} ELSE second_waiter END
			WHERE lock_key = ? AND (first_waiter = ? OR second_waiter = ?)""";

	private static final String SWEEP = "DELETE FROM {table} WHERE lock_key = ANY(?) AND {deletable}";

	private static final String TWO_ROWS = """
			INSERT {ignore} INTO {table} ({names}) VALUES (?, {noLock(1)}), (?, {noLock(2)})""";

	private final String platform;

	private final String table;

	private final SqlWords words;

	private final String attempt;

	private final String attemptFree;

	/** Statements by their templates, filled when they are first used. */
	private final Map<String, String> statements = new ConcurrentHashMap<>();

	/**
	 * Creates a dialect.
	 * @param platform the name of its schema script
	 * @param table the name of the lock table
	 * @param words the dialect's words
	 * @param attempt the template of the attempt, whose parameters are key, owner, lease
	 * in microseconds, holder, process, and since when it waits: the earlier of the
	 * parameter and the clock
	 * @param attemptFree the template of the attempt of a free row, whose parameters are
	 * key, owner, lease in microseconds, and holder
	 */
	Dialect(String platform, String table, SqlWords words, String attempt, String attemptFree) {
		this.platform = platform;
		this.table = table;
		this.words = RowRule.addTo(words).with("table", table).with("columns", COLUMNS).with("deletable", DELETABLE);
		this.attempt = attempt;
		this.attemptFree = attemptFree;
	}

	/** Whether {@link Connection#abort} ends a running statement. */
	public boolean isAbortable() {
		return true;
	}

	/** Whether an abort ends the call at once, whatever the server does. */
	public boolean abortsAtOnce() {
		return true;
	}

	/** Returns how long a released lock stays reserved for the first contender. */
	public long reservationMicros() {
		return POLLED_RESERVATION_MICROS;
	}

	/** Returns how long an entry of the wait queue is valid without being refreshed. */
	public long entryMicros() {
		return POLLED_ENTRY_MICROS;
	}

	/**
	 * Returns the channel on which the database notifies contenders of a release, or
	 * {@code null} if it has no notifications.
	 */
	public @Nullable String channel() {
		return null;
	}

	/** Whether a pooler stands between the driver and the server. */
	public boolean isPooled(Connection connection) throws SQLException {
		return false;
	}

	/**
	 * Returns by what means several servers of the database accept writes at once, so
	 * that a row may be locked on each of them, or {@code null} if one does.
	 */
	public @Nullable String multiPrimary(Connection connection) throws SQLException {
		return null;
	}

	/** Returns the name of a database that has never run these statements. */
	public @Nullable String untested() {
		return null;
	}

	/** Whether the database can keep row locks. */
	public boolean supportsRowLocks() {
		return true;
	}

	/** Returns a short query that shows that a session is alive. */
	public String validationQuery() {
		return "SELECT 1";
	}

	/** Bounds a read from the connection in milliseconds, where an abort can block. */
	public void limitReads(Connection connection, int millis) throws SQLException {
	}

	/** Returns the bound of reads that {@link #limitReads} changes, 0 for none. */
	public int readLimit(Connection connection) throws SQLException {
		return 0;
	}

	/**
	 * Returns the statements that set up a session of the locks' own pool, by which the
	 * server bounds how late a command can take effect. Each is a round trip.
	 * @param callTimeout how long a statement may take; the wait for a row's lock may
	 * take half of it
	 */
	public abstract List<String> sessionSettings(Duration callTimeout);

	/** Prepares a new connection of the locks' own pool. */
	public void prepareSession(Connection connection, Duration callTimeout) throws SQLException {
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		for (String setting : sessionSettings(callTimeout)) {
			Sql.execute(connection, setting);
		}
	}

	/**
	 * Releases the row if it has this owner, and reserves it for the first contender of
	 * another process.
	 * @return whether the row had this owner
	 */
	public boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return Sql.update(connection, sql(RELEASE), process, process, process, stored(key), owner) > 0;
	}

	/**
	 * Releases the row if it has this owner, and lets nobody acquire it for a time. The
	 * wait queue remains as it is.
	 * @param keepMicros the time from now on
	 * @return whether the row had this owner
	 */
	public boolean keep(Connection connection, String key, String owner, long keepMicros) throws SQLException {
		return Sql.update(connection, sql(KEEP), keepMicros, stored(key), owner) > 0;
	}

	/**
	 * Removes the wait-queue entries of the process.
	 * @return whether there was one
	 */
	public boolean removeEntries(Connection connection, String key, String process) throws SQLException {
		return Sql.update(connection, sql(REMOVE_ENTRIES), process, process, stored(key), process, process) > 0;
	}

	/**
	 * Removes the wait-queue entries of the process, then releases a reservation made for
	 * it. In this order no reservation can be made in between.
	 * @return whether there was an entry or a reservation
	 */
	public boolean withdraw(Connection connection, String key, String process) throws SQLException {
		boolean removed = removeEntries(connection, key, process);
		return release(connection, key, LockRow.RESERVED + process, process) || removed;
	}

	/**
	 * Extends the leases of those rows that still have their owner and have not expired.
	 * @return the outcomes in the order of the list
	 */
	public abstract List<RenewalOutcome> renew(Connection connection, List<Renewal> renewals) throws SQLException;

	/**
	 * Deletes those of the rows that may still be deleted.
	 * @return how many rows were deleted
	 */
	public int sweep(Connection connection, List<String> keys, long retentionMicros) throws SQLException {
		Object[] stored = keys.stream().map(this::stored).toArray();
		return Sql.update(connection, sql(SWEEP), connection.createArrayOf(keyType(), stored), retentionMicros);
	}

	/** Returns the arrays of the keys, the owners and the leases of a batch. */
	final Object[] arrays(Connection connection, List<Renewal> renewals) throws SQLException {
		Object[] keys = renewals.stream().map((renewal) -> stored(renewal.key())).toArray();
		Object[] owners = renewals.stream().map(Renewal::owner).toArray();
		Object[] leases = renewals.stream().map(Renewal::leaseMicros).toArray();
		return new Object[] { connection.createArrayOf(keyType(), keys), connection.createArrayOf("varchar", owners),
				connection.createArrayOf("bigint", leases) };
	}

	/**
	 * Returns the outcomes of a batch of which some leases were renewed. One that was not
	 * is unknown if its row is locked, else lost.
	 * @param renewed the leases that were renewed
	 * @param stillHeld the statement that reads those which this process has in any case
	 */
	final List<RenewalOutcome> outcomes(Connection connection, List<Renewal> renewals, Set<String> renewed,
			String stillHeld, Object... batch) throws SQLException {
		Set<String> held = (renewed.size() < renewals.size()) ? leases(connection, sql(stillHeld), batch) : renewed;
		List<RenewalOutcome> outcomes = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			String id = renewal.owner() + renewal.key();
			outcomes.add(renewed.contains(id) ? RenewalOutcome.RENEWED
					: held.contains(id) ? RenewalOutcome.UNKNOWN : RenewalOutcome.NOT_HELD);
		}
		return outcomes;
	}

	/** Reads the leases that a statement returns as their keys and owners. */
	final Set<String> leases(Connection connection, String sql, Object... arguments) throws SQLException {
		return new HashSet<>(Sql.query(connection, sql, (row) -> row.getString(2) + key(row, 1), arguments));
	}

	/** Fills the words of this dialect into a template. */
	final String sql(String template) {
		return this.statements.computeIfAbsent(template, this.words::fill);
	}

	/** Returns the type of the key column in arrays. */
	String keyType() {
		return "VARBINARY";
	}

	/** Returns a key as the value of the key column. */
	Object stored(String key) {
		return key.getBytes(StandardCharsets.UTF_8);
	}

	/** Reads a key from the key column. */
	String key(ResultSet row, int column) throws SQLException {
		return new String(row.getBytes(column), StandardCharsets.UTF_8);
	}

	/** Returns the script that creates the lock table. */
	public final String schema() {
		return Sql.script("io/distributedlock/jdbc", this.platform, Sql.SCRIPT_TABLE, this.table);
	}

	/**
	 * Acquires the row if the process may have it, else enters the wait queue if the
	 * attempt waits and an entry is open to it. Always returns the row.
	 * <p>
	 * If a free row is expected, attempts with a short statement first, which grants it,
	 * and writes again only if that would change the row.
	 */
	public LockRow attempt(Connection connection, RowAttempt attempt, boolean expectsFree) throws SQLException {
		if (expectsFree) {
			long order = attemptFree(connection, attempt);
			if (order > 0) {
				return LockRow.granted(attempt, order);
			}
			LockRow row = read(connection, attempt.key());
			if (row != null && !row.mayBeChangedBy(attempt)) {
				return row;
			}
		}
		return attemptByRule(connection, attempt);
	}

	/**
	 * Acquires a row that is free and has no entries, or that does not exist. The
	 * statement that has the whole rule is long, and takes a database much longer.
	 * @return the order of the grant, or 0
	 */
	long attemptFree(Connection connection, RowAttempt attempt) throws SQLException {
		List<Long> orders = Sql.query(connection, attemptFreeSql(), (row) -> row.getLong(1), stored(attempt.key()),
				attempt.owner(), attempt.leaseMicros(), attempt.holder());
		return orders.isEmpty() ? 0 : orders.get(0);
	}

	final String attemptFreeSql() {
		return sql(this.attemptFree);
	}

	/** Attempts with the statement that has the whole rule. */
	LockRow attemptByRule(Connection connection, RowAttempt attempt) throws SQLException {
		return Sql.query(connection, attemptSql(), LockRow::read, arguments(attempt)).get(0);
	}

	final String attemptSql() {
		return sql(this.attempt);
	}

	/** Returns the parameters of the template of the attempt. */
	final @Nullable Object[] arguments(RowAttempt attempt) {
		return new @Nullable Object[] { stored(attempt.key()), attempt.owner(), attempt.leaseMicros(), attempt.holder(),
				attempt.process(), attempt.waitsSinceMicros() };
	}

	/** Reads the row without locking it. */
	public final @Nullable LockRow read(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, sql(READ), LockRow::read, stored(key));
		return rows.isEmpty() ? null : rows.get(0);
	}

	/**
	 * Reads the first rows of held or kept locks in the order of their keys.
	 * @param from the least key, and the beginning of all of them
	 * @param to the key that follows all of them
	 */
	public final List<KeyedRow> readHeld(Connection connection, String from, String to, int limit) throws SQLException {
		return Sql.query(connection, sql(HELD), (row) -> new KeyedRow(key(row, KEY_OF_HELD), LockRow.read(row)),
				stored(from), stored(to), limit);
	}

	/**
	 * Reads one page of keys in their order, and whether each row may be deleted.
	 * @param after the last key of the page before, or an empty text
	 */
	public final List<SweepCandidate> readSweepCandidates(Connection connection, String after, int limit,
			long retentionMicros) throws SQLException {
		return Sql.query(connection, sql(CANDIDATES), (row) -> new SweepCandidate(key(row, 1), row.getBoolean(2)),
				retentionMicros, stored(after), limit);
	}

	/** Notifies contenders that the first of them may have a share. */
	void notifyFirst(Connection connection, String key) throws SQLException {
	}

	/**
	 * Returns an error as that of a row that was locked for too long, if it may be so.
	 */
	SQLException rowLocked(SQLException ex) {
		return ex;
	}

	/** Returns the statements of row locks. */
	public final RowLockStatements rowLocks() {
		return new RowLockStatements(this::sql, this::stored, rowLockSession());
	}

	/** Returns what is particular to the sessions that hold row locks. */
	abstract RowLockSession rowLockSession();

	/** Reads the format row, naming every column, and the clock. */
	public final TableStatus readStatus(Connection connection) throws SQLException {
		return Sql
			.query(connection, sql(STATUS), (row) -> new TableStatus(row.getLong(1), row.getLong(2)),
					stored(LockKeyEncoder.FORMAT_ROW))
			.get(0);
	}

	/**
	 * Whether the table refuses a second row with a key. Changes nothing, and fails no
	 * statement on a table that does, because servers and drivers log failures.
	 */
	boolean isKeyUnique(Connection connection) throws SQLException {
		Object key = stored(LockKeyEncoder.NO_ROW);
		connection.setAutoCommit(false);
		try {
			return Sql.update(connection, sql(TWO_ROWS), key, key) == 1;
		}
		finally {
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	/** Whether different keys never count as equal in a column of the type. */
	boolean isExact(int type) {
		return type == Types.VARBINARY;
	}

	/** Whether a column of the type holds times and orders. */
	boolean isNumber(int type) {
		return type == Types.BIGINT;
	}

	/** Whether the statements would take generated keys for the orders of grants. */
	boolean mistakesGeneratedKeys() {
		return false;
	}

	/**
	 * Executes an update and an insert that match no row, so that a missing right or a
	 * read-only server fails.
	 */
	public final void checkWritable(Connection connection) throws SQLException {
		Sql.update(connection, sql(UPDATE_NOTHING), stored(LockKeyEncoder.NO_ROW));
		Sql.update(connection, sql(INSERT_NOTHING), stored(LockKeyEncoder.NO_ROW));
	}

	/**
	 * Row of a lock that is held or kept.
	 *
	 * @param key the text of the key column
	 * @param row the row
	 */
	public record KeyedRow(String key, LockRow row) {
	}

	/**
	 * Lease to be extended.
	 *
	 * @param key the text of the key column
	 * @param owner the owner id of the grant
	 * @param leaseMicros the new lease in microseconds from now
	 */
	public record Renewal(String key, String owner, long leaseMicros) {
	}

	/**
	 * Row that the sweeper has read.
	 *
	 * @param key the text of the key column
	 * @param deletable whether the row may be deleted
	 */
	public record SweepCandidate(String key, boolean deletable) {
	}

	/**
	 * Format of the lock table, and the clock of its database.
	 *
	 * @param format the format number, 0 if the table has no format row
	 * @param clockMicros the clock in microseconds since 1970
	 */
	public record TableStatus(long format, long clockMicros) {
	}

}
