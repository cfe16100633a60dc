package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.distributedlock.provider.RenewalOutcome;

/**
 * A dialect without notifications, whose statements return no more than the rows that
 * they changed.
 */
abstract class PolledDialect extends Dialect {

	private static final String RELEASE = "UPDATE {table} SET {release} WHERE lock_key = ? AND owner = ?";

	private static final String KEEP = """
			UPDATE {table} SET owner = {kept}, expires_at = {keptUntil} WHERE lock_key = ? AND owner = ?""";

	private static final String REMOVE_ENTRIES = """
			UPDATE {table} SET first_waiter = NULLIF(first_waiter, ?), second_waiter = NULLIF(second_waiter, ?)
			WHERE lock_key = ? AND (first_waiter = ? OR second_waiter = ?)""";

	/** Creates a dialect, as {@link Dialect} does. */
	PolledDialect(String platform, String table, SqlWords words, String attempt) {
		super(platform, table, words.with("releaser", "?"), attempt);
	}

	@Override
	public final boolean release(Connection connection, String key, String owner, String process) throws SQLException {
		return Sql.update(connection, sql(RELEASE), process, process, process, stored(key), owner) > 0;
	}

	@Override
	public final boolean keep(Connection connection, String key, String owner, long keepMicros) throws SQLException {
		return Sql.update(connection, sql(KEEP), keepMicros, stored(key), owner) > 0;
	}

	@Override
	public final boolean removeEntries(Connection connection, String key, String process) throws SQLException {
		return Sql.update(connection, sql(REMOVE_ENTRIES), process, process, stored(key), process, process) > 0;
	}

	/** Inserts two rows in a transaction that is rolled back. */
	@Override
	final boolean isKeyUnique(Connection connection) throws SQLException {
		connection.setAutoCommit(false);
		try {
			return insertTwoRows(connection, stored(LockKeyEncoder.NO_ROW)) == 1;
		}
		finally {
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	/** Inserts two rows with a key, and returns how many of them the table has taken. */
	abstract int insertTwoRows(Connection connection, Object key) throws SQLException;

	/**
	 * Returns the outcomes of a batch, given the leases that were renewed and those that
	 * this process has in any case, renewed or not.
	 */
	static List<RenewalOutcome> outcomes(List<Renewal> renewals, Set<String> renewed, Set<String> held) {
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

}
