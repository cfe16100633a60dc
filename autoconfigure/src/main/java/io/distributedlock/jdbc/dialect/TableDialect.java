package io.distributedlock.jdbc.dialect;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The statements that all dialects have in common but for their words. Keys are bytes,
 * unless a dialect compares texts byte by byte. Immutable.
 * <p>
 * The words that every dialect gives, besides those of the {@link RowRule}:
 * {@code columns} are the twelve columns of {@link LockRow#read}, {@code epochMicros} is
 * the clock in microseconds since 1970, and {@code retained} is the instant before which
 * the lock of a row must have ended that the sweeper deletes, with one parameter.
 */
abstract class TableDialect implements Dialect {

	/** The bytes of a character in UTF-8 at most. */
	private static final int LONGEST_CHARACTER = 4;

	private static final String READ = "SELECT {columns} FROM {table} WHERE lock_key = ?";

	private static final String HELD = """
			SELECT {columns}, lock_key FROM {table} WHERE lock_key >= ? AND lock_key < ?
				AND owner IS NOT NULL AND owner NOT LIKE 'reserved:%' AND expires_at >= {retained}
			ORDER BY lock_key LIMIT ?""";

	private static final String DELETABLE = """
			COALESCE(expires_at < {retained} AND grant_order < {epochMicros}, FALSE)""";

	private static final String CANDIDATES = """
			SELECT lock_key, {deletable} FROM {table} WHERE lock_key > ? ORDER BY lock_key LIMIT ?""";

	private static final String STATUS = """
			SELECT f.grant_order, {epochMicros} FROM (SELECT 1) one LEFT JOIN (
				SELECT lock_key, owner, grant_order, expires_at, acquired_at, holder,
					first_waiter, first_waiter_since, first_waiter_until,
					second_waiter, second_waiter_since, second_waiter_until
				FROM {table} WHERE lock_key = ?) f ON TRUE""";

	/** Three keys that no row has, unless keys that differ count as equal. */
	private static final String SHAPE = """
			SELECT * FROM {table} WHERE lock_key IN (?, ?, ?)""";

	private static final Map<String, Integer> LENGTHS = Map.of("owner", 41, "holder", 255, "first_waiter", 32,
			"second_waiter", 32);

	private static final Set<String> TIMES = Set.of("expires_at", "acquired_at", "first_waiter_since",
			"first_waiter_until", "second_waiter_since", "second_waiter_until");

	private static final int MICROSECONDS = 6;

	/** The key's column behind those of a row. */
	private static final int KEY_OF_HELD = 13;

	private static final String UPDATE_NOTHING = """
			UPDATE {table} SET owner = owner, grant_order = grant_order, expires_at = expires_at,
				acquired_at = acquired_at, holder = holder, first_waiter = first_waiter,
				first_waiter_since = first_waiter_since, first_waiter_until = first_waiter_until,
				second_waiter = second_waiter, second_waiter_since = second_waiter_since,
				second_waiter_until = second_waiter_until
			WHERE lock_key = ?""";

	private static final String INSERT_NOTHING = """
			INSERT INTO {table}
				(lock_key, owner, grant_order, expires_at, acquired_at, holder, first_waiter, first_waiter_since)
			SELECT lock_key, owner, grant_order, expires_at, acquired_at, holder, first_waiter, first_waiter_since
			FROM {table} WHERE lock_key = ?""";

	private final SqlWords words;

	private final String schema;

	private final String attempt;

	private final String read;

	private final String candidates;

	private final String status;

	/**
	 * Creates a dialect.
	 * @param platform the name of its schema script
	 * @param table the name of the lock table
	 * @param words the dialect's words
	 * @param attempt the template of the attempt, whose parameters are key, owner, lease
	 * in microseconds, holder, process, whether it waits, and since when in microseconds
	 */
	TableDialect(String platform, String table, SqlWords words, String attempt) {
		this.words = RowRule.addTo(words).with("table", table).with("deletable", DELETABLE);
		this.schema = Sql.script(platform, table);
		this.attempt = sql(attempt);
		this.read = sql(READ);
		this.candidates = sql(CANDIDATES);
		this.status = sql(STATUS);
	}

	/** Fills the words of this dialect into a template. */
	final String sql(String template) {
		return this.words.fill(template);
	}

	/** Returns how many characters or bytes the key column must hold. */
	int keyLength() {
		return LockKeyEncoder.LENGTH * LONGEST_CHARACTER;
	}

	/** Returns a key as the value of the key column. */
	Object stored(String key) {
		return key.getBytes(StandardCharsets.UTF_8);
	}

	/** Reads a key from the key column. */
	String key(ResultSet row, int column) throws SQLException {
		return new String(row.getBytes(column), StandardCharsets.UTF_8);
	}

	@Override
	public final String schema() {
		return this.schema;
	}

	/**
	 * Attempts with a short statement first, which grants a free lock, and writes again
	 * only if that would change the row. A contender that was refused already does not
	 * expect a row without entries.
	 */
	@Override
	public LockRow attempt(Connection connection, RowAttempt attempt) throws SQLException {
		if (attempt.sinceMicros() == null) {
			long order = attemptFree(connection, attempt);
			if (order > 0) {
				return LockRow.granted(attempt, order);
			}
			LockRow row = read(connection, attempt.key());
			if (row != null && !row.isAcquirableBy(attempt.process()) && !row.isHeldBy(attempt.owner())
					&& !(attempt.willWait() && row.hasOpenEntryFor(attempt.process()))) {
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
	abstract long attemptFree(Connection connection, RowAttempt attempt) throws SQLException;

	/** Returns the order that a statement for a free row returns, 0 without a row. */
	final long orderOfFree(Connection connection, String sql, RowAttempt attempt) throws SQLException {
		List<Long> orders = Sql.query(connection, sql, (row) -> row.getLong(1), stored(attempt.key()), attempt.owner(),
				attempt.leaseMicros(), attempt.holder());
		return orders.isEmpty() ? 0 : orders.get(0);
	}

	/** Attempts with the statement that has the whole rule. */
	LockRow attemptByRule(Connection connection, RowAttempt attempt) throws SQLException {
		return Sql.query(connection, this.attempt, LockRow::read, arguments(attempt)).get(0);
	}

	final String attemptSql() {
		return this.attempt;
	}

	/** Returns the parameters of the template of the attempt. */
	final @Nullable Object[] arguments(RowAttempt attempt) {
		return new @Nullable Object[] { stored(attempt.key()), attempt.owner(), attempt.leaseMicros(), attempt.holder(),
				attempt.process(), attempt.willWait(), attempt.sinceMicros() };
	}

	@Override
	public final @Nullable LockRow read(Connection connection, String key) throws SQLException {
		List<LockRow> rows = Sql.query(connection, this.read, LockRow::read, stored(key));
		return rows.isEmpty() ? null : rows.get(0);
	}

	@Override
	public final List<KeyedRow> readHeld(Connection connection, String from, String to, int limit) throws SQLException {
		return Sql.query(connection, sql(HELD), (row) -> new KeyedRow(key(row, KEY_OF_HELD), LockRow.read(row)),
				stored(from), stored(to), 0L, limit);
	}

	@Override
	public final List<SweepCandidate> readSweepCandidates(Connection connection, String after, int limit,
			long retentionMicros) throws SQLException {
		return Sql.query(connection, this.candidates, (row) -> new SweepCandidate(key(row, 1), row.getBoolean(2)),
				retentionMicros, stored(after), limit);
	}

	@Override
	public final RowLockStatements rowLocks() {
		return new RowLockStatements(this::sql, this::stored, rowLockSession());
	}

	/** Returns what is particular to the sessions that hold row locks. */
	abstract RowLockSession rowLockSession();

	@Override
	public final TableStatus readStatus(Connection connection) throws SQLException {
		return Sql
			.query(connection, this.status, (row) -> new TableStatus(row.getLong(1), row.getLong(2)),
					stored(LockKeyEncoder.FORMAT_ROW))
			.get(0);
	}

	@Override
	public final TableShape readShape(Connection connection) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql(SHAPE))) {
			for (int i = 0; i < LockKeyEncoder.SIMILAR_TO_FORMAT_ROW.size(); i++) {
				statement.setObject(i + 1, stored(LockKeyEncoder.SIMILAR_TO_FORMAT_ROW.get(i)));
			}
			try (ResultSet rows = statement.executeQuery()) {
				ResultSetMetaData columns = rows.getMetaData();
				List<String> unsuitable = new ArrayList<>();
				boolean exact = !rows.next();
				for (int i = 1; i <= columns.getColumnCount(); i++) {
					String name = columns.getColumnName(i).toLowerCase(Locale.ROOT);
					exact &= !name.equals("lock_key") || isExact(columns.getColumnType(i));
					addUnsuitable(unsuitable, columns, i, name);
				}
				return new TableShape(unsuitable, exact, isKeyUnique(connection));
			}
		}
	}

	/**
	 * Whether the table refuses a second row with a key. Changes nothing, and fails no
	 * statement on a table that does, because servers and drivers log failures.
	 */
	abstract boolean isKeyUnique(Connection connection) throws SQLException;

	/** Whether the key column compares bytes, or else is compared by {@link #SHAPE}. */
	boolean isExact(int type) {
		return type == Types.VARBINARY;
	}

	private void addUnsuitable(List<String> unsuitable, ResultSetMetaData columns, int column, String name)
			throws SQLException {
		if (TIMES.contains(name)) {
			String type = columns.getColumnTypeName(column);
			if (!timeType().equalsIgnoreCase(type) || !hasMicroseconds(columns, column)) {
				unsuitable.add("%s (%s, needs %s with 6 decimals)".formatted(name, type, timeType()));
			}
			return;
		}
		if (columns.isAutoIncrement(column) && mistakesGeneratedKeys()) {
			unsuitable.add(name + " (is numbered by the database)");
		}
		int needed = name.equals("lock_key") ? keyLength() : LENGTHS.getOrDefault(name, 0);
		int found = columns.getPrecision(column);
		// A column without a bound has no precision in some drivers.
		if (found > 0 && found < needed) {
			unsuitable.add("%s (%d, needs %d)".formatted(name, found, needed));
		}
	}

	/** Whether the statements would take generated keys for the orders of grants. */
	boolean mistakesGeneratedKeys() {
		return false;
	}

	/** Whether a column that holds a time holds its microseconds. */
	boolean hasMicroseconds(ResultSetMetaData columns, int column) throws SQLException {
		return columns.getScale(column) == MICROSECONDS;
	}

	/** Returns the type of the columns that hold a time. */
	abstract String timeType();

	@Override
	public final void checkWritable(Connection connection) throws SQLException {
		Sql.update(connection, sql(UPDATE_NOTHING), stored(LockKeyEncoder.NO_ROW));
		Sql.update(connection, sql(INSERT_NOTHING), stored(LockKeyEncoder.NO_ROW));
	}

}
