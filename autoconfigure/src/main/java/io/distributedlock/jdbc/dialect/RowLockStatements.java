package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Statements of row locks in the words of a dialect. The rows that are locked are rows of
 * their own, whose order is the time of their creation and which never expire. Immutable.
 */
public final class RowLockStatements {

	/** The first keys that are not those of locked rows any more. */
	private static final String END = LockKeyEncoder.ROW.replace(':', ';');

	private static final String LOCK = "SELECT {session} FROM {table} WHERE lock_key = ? FOR UPDATE";

	private static final String INSERT = "INSERT INTO {table} ({names}) VALUES (?, {noLock(clock)})";

	private static final String OLD_ROWS = """
			SELECT lock_key FROM {table} WHERE lock_key >= ? AND lock_key < ? AND grant_order < {clock} - ?
			ORDER BY lock_key LIMIT ? FOR UPDATE SKIP LOCKED""";

	/** For one row: a scan of the table would wait for each row that is locked. */
	private static final String DELETE = "DELETE FROM {table} WHERE lock_key = ?";

	private final UnaryOperator<String> words;

	private final Function<String, Object> stored;

	private final RowLockSession session;

	/**
	 * Creates the statements.
	 * @param words fills the words of the dialect into a template
	 * @param stored returns a key as the value of the key column
	 */
	RowLockStatements(UnaryOperator<String> words, Function<String, Object> stored, RowLockSession session) {
		this.words = words;
		this.stored = stored;
		this.session = session;
	}

	/**
	 * Locks a row in the transaction of the connection.
	 * @param bound how long it may wait
	 * @return the id of the session, or {@code null} if there is no such row
	 * @throws SQLException also if another transaction has locked the row, at once or
	 * after the wait
	 */
	public @Nullable Long lock(Connection connection, String key, RowWait wait, Duration bound) throws SQLException {
		String statement = this.words.apply(LOCK.replace("{session}", this.session.id()));
		String sql = (wait == RowWait.NONE) ? statement + " NOWAIT" : statement;
		if (wait == RowWait.QUEUE && this.session.bound() != null) {
			Sql.execute(connection, this.session.bound().apply(bound));
		}
		List<Long> sessions = Sql.query(connection, sql, (row) -> row.getLong(1), this.stored.apply(key));
		return sessions.isEmpty() ? null : sessions.get(0);
	}

	/**
	 * Inserts a row to lock, and commits it: a lock on a row that does not exist would be
	 * one on the gap between its neighbours in some databases.
	 */
	public void insert(Connection connection, String key) throws SQLException {
		Sql.update(connection, this.words.apply(INSERT), this.stored.apply(key));
		connection.commit();
	}

	/**
	 * Fails if the session has ended. Otherwise lets the server end it, and with it the
	 * transaction, once it was idle for a time.
	 */
	public void keep(Connection connection, Duration idle) throws SQLException {
		Sql.execute(connection, this.session.keep().apply(idle));
	}

	/**
	 * Ends the transaction and restores the settings of the session. Never commits:
	 * nothing was written.
	 */
	public void end(Connection connection) throws SQLException {
		connection.rollback();
		connection.setAutoCommit(true);
	}

	/** Undoes what {@link #keep} has set, after the end of the transaction. */
	public void restore(Connection connection) throws SQLException {
		if (this.session.restore() != null) {
			Sql.execute(connection, this.session.restore());
		}
	}

	/**
	 * Deletes rows that were created longer than the retention ago and that nobody has
	 * locked. A row is deleted under its lock, and created again with the next attempt.
	 * @return how many rows were deleted
	 */
	public int sweep(Connection connection, int limit, long retentionMicros) throws SQLException {
		connection.setAutoCommit(false);
		try {
			List<Object> keys = Sql.query(connection, this.words.apply(OLD_ROWS), (row) -> row.getObject(1),
					this.stored.apply(LockKeyEncoder.ROW), this.stored.apply(END), retentionMicros, limit);
			for (Object key : keys) {
				Sql.update(connection, this.words.apply(DELETE), key);
			}
			connection.commit();
			return keys.size();
		}
		catch (SQLException ex) {
			connection.rollback();
			throw ex;
		}
		finally {
			connection.setAutoCommit(true);
		}
	}

	/** How long an attempt waits for a row that another transaction has locked. */
	public enum RowWait {

		/** Not at all. */
		NONE,
		/** In the queue of the database, for the lock time-out of the session. */
		QUEUE

	}

}
