package io.distributedlock.jdbc.dialect;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

/** Classification of SQL errors: contention, a time-out, or a failure. */
public final class SqlErrors {

	public static final String PROVIDER = "jdbc";

	static final String LOCK_NOT_AVAILABLE = "55P03";

	/** PostgreSQL has ended the session: by an operator, at its stop, or as idle. */
	private static final String SESSION_ENDED = "57P";

	/** The server ended the statement because of {@code max_statement_time}. */
	static final int MARIADB_STATEMENT_TIMEOUT = 1969;

	/** Serialization failure, deadlock, lock not available, and changed records. */
	private static final Codes CONTENTION = new Codes(Set.of("40001", "40P01", LOCK_NOT_AVAILABLE),
			Set.of(40001, 50200, 90131), Set.of(1020, 1205, 1213));

	private static final Codes ROW_LOCKED = new Codes(Set.of(LOCK_NOT_AVAILABLE), Set.of(50200), Set.of(1205));

	/** MySQL says so only of a statement that does not wait. */
	private static final Codes ROW_LOCKED_NOW = new Codes(Set.of(), Set.of(), Set.of(3572));

	/**
	 * A time-out of the session; in MySQL {@code max_statement_time} and
	 * {@code max_execution_time}.
	 */
	private static final Codes STATEMENT_ENDED = new Codes(Set.of("57014"), Set.of(),
			Set.of(MARIADB_STATEMENT_TIMEOUT, 3024));

	/** {@code KILL QUERY}: says nothing of the lock. */
	private static final Codes KILLED = new Codes(Set.of(), Set.of(), Set.of(1317));

	/** The transaction may only read, or the server by one of its options. */
	private static final Codes READ_ONLY = new Codes(Set.of("25006"), Set.of(90097), Set.of(1290, 1836));

	private static final Codes DUPLICATE_KEY = new Codes(Set.of("23505"), Set.of(), Set.of(1062));

	private static final Codes LOGS_STATEMENTS = new Codes(Set.of(), Set.of(), Set.of(1665));

	private static final Codes MISSING = new Codes(
			Set.of("42P01", "42703", "3F000", "42S02", "42S03", "42S04", "42S22"),
			Set.of(42102, 42103, 42104, 42122, 90079), Set.of());

	/** Access denied: to the database, at log-in, to the table, to a column. */
	private static final Codes DENIED = new Codes(Set.of("42501", "28000", "28P01"), Set.of(90096, 90040, 28000),
			Set.of(1044, 1045, 1142, 1143));

	private SqlErrors() {
	}

	/** Whether the statement changed nothing because another one changed the row. */
	public static boolean isContention(SQLException ex) {
		return CONTENTION.have(ex);
	}

	/** Whether the row was locked for longer than a statement may wait. */
	public static boolean isRowLocked(SQLException ex) {
		return ROW_LOCKED.have(ex);
	}

	/**
	 * Whether a statement did not lock a row because another transaction has locked it,
	 * at once or after a wait, which the bound of the statement ends in some databases.
	 */
	public static boolean isHeldByAnother(SQLException ex) {
		return CONTENTION.have(ex) || STATEMENT_ENDED.have(ex) || ROW_LOCKED_NOW.have(ex);
	}

	/**
	 * Whether the connection is broken. A pool that does not see this by the error lends
	 * the connection again until it validates it.
	 */
	public static boolean isConnectionLost(SQLException ex) {
		return ex instanceof SQLNonTransientConnectionException || ex instanceof SQLRecoverableException
				|| state(ex).startsWith("08") || state(ex).startsWith(SESSION_ENDED);
	}

	/**
	 * Whether the session may only read, as after a fail-over that has left the
	 * connection with a server that is a replica now.
	 */
	public static boolean isReadOnly(SQLException ex) {
		return READ_ONLY.have(ex);
	}

	public static boolean isDuplicateKey(SQLException ex) {
		return DUPLICATE_KEY.have(ex);
	}

	/** Whether the statement may have failed because the table has another format. */
	public static boolean isOfTable(SQLException ex) {
		LockError error = classify(ex);
		return error == LockError.TABLE_MISSING
				|| (error == LockError.STORE_FAILED && !isConnectionLost(ex) && !isContention(ex));
	}

	/** Returns the entry of the error catalogue for an error that is no contention. */
	public static LockError classify(SQLException ex) {
		if (MISSING.have(ex)) {
			return LockError.TABLE_MISSING;
		}
		if (DENIED.have(ex)) {
			return LockError.NOT_PERMITTED;
		}
		if (LOGS_STATEMENTS.have(ex)) {
			return LockError.STORE_UNSUITABLE;
		}
		if (ex instanceof SQLTimeoutException || ROW_LOCKED.have(ex) || STATEMENT_ENDED.have(ex) || KILLED.have(ex)) {
			return LockError.STORE_TIMEOUT;
		}
		return isReadOnly(ex) ? LockError.WRITES_REFUSED : LockError.STORE_FAILED;
	}

	public static LockProviderException translate(SQLException ex, String table, @Nullable Dialect dialect) {
		LockError error = classify(ex);
		String problem = switch (error) {
			case TABLE_MISSING -> "lacks the table '" + table + "' or one of its columns: " + ex.getMessage()
					+ ((dialect != null) ? "\nCreate the table with:\n" + dialect.schema() : "");
			case NOT_PERMITTED -> "denies access to the table '" + table
					+ "'. Grant SELECT, INSERT, UPDATE and DELETE: " + ex.getMessage();
			case STORE_UNSUITABLE -> "runs with binlog_format=STATEMENT, which allows no writes at READ COMMITTED. "
					+ "Set binlog_format=ROW or MIXED: " + ex.getMessage();
			case STORE_TIMEOUT -> "ended a statement after its time-out: " + ex.getMessage();
			case WRITES_REFUSED ->
				"may only be read through this connection, which is closed; a later call opens another one: "
						+ ex.getMessage();
			default -> "failed: " + ex.getMessage();
		};
		return new LockProviderException(error, PROVIDER, problem, ex);
	}

	private static String state(SQLException ex) {
		return (ex.getSQLState() != null) ? ex.getSQLState() : "";
	}

	/**
	 * Codes of one kind of error.
	 *
	 * @param states its SQL states in any database
	 * @param h2 the codes of H2
	 * @param mysql the codes of MySQL and MariaDB; PostgreSQL's errors have none
	 */
	private record Codes(Set<String> states, Set<Integer> h2, Set<Integer> mysql) {

		private boolean have(SQLException ex) {
			boolean ofH2 = ex.getClass().getName().startsWith("org.h2.");
			return this.states.contains(state(ex)) || (ofH2 ? this.h2 : this.mysql).contains(ex.getErrorCode());
		}

	}

}
