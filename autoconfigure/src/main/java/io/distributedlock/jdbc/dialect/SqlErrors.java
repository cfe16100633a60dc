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

	/** PostgreSQL ended the statement because of {@code statement_timeout}. */
	private static final String STATEMENT_ENDED = "57014";

	/** PostgreSQL has ended the session: by an operator, at its stop, or as idle. */
	private static final String SESSION_ENDED = "57P";

	/** The server ended the statement because of {@code max_statement_time}. */
	static final int MARIADB_STATEMENT_TIMEOUT = 1969;

	/** {@code KILL QUERY}, {@code max_statement_time}, {@code max_execution_time}. */
	private static final Set<Integer> MYSQL_STATEMENT_ENDED = Set.of(1317, MARIADB_STATEMENT_TIMEOUT, 3024);

	private static final int H2_LOCK_TIMEOUT = 50200;

	/** A transaction that may only read. */
	private static final String READ_ONLY = "25006";

	private static final int H2_READ_ONLY = 90097;

	/** The server runs with an option that prevents the statement, or is read-only. */
	private static final Set<Integer> MYSQL_READ_ONLY = Set.of(1290, 1836);

	private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;

	/** The row is locked and the statement does not wait. */
	private static final int MYSQL_NO_WAIT = 3572;

	private static final int MYSQL_DUPLICATE_KEY = 1062;

	private static final int MYSQL_LOGS_STATEMENTS = 1665;

	/** Serialization failure, deadlock, lock not available. */
	private static final Set<String> CONTENTION = Set.of("40001", "40P01", LOCK_NOT_AVAILABLE);

	/** Deadlock, lock time-out, concurrent update. */
	private static final Set<Integer> H2_CONTENTION = Set.of(40001, H2_LOCK_TIMEOUT, 90131);

	/** Record changed, lock wait time-out, deadlock. */
	private static final Set<Integer> MYSQL_CONTENTION = Set.of(1020, MYSQL_LOCK_WAIT_TIMEOUT, 1213);

	private static final Set<String> MISSING = Set.of("42P01", "42703", "3F000", "42S02", "42S03", "42S04", "42S22");

	private static final Set<Integer> H2_MISSING = Set.of(42102, 42103, 42104, 42122, 90079);

	private static final Set<String> DENIED = Set.of("42501", "28000", "28P01");

	private static final Set<Integer> H2_DENIED = Set.of(90096, 90040, 28000);

	/** Access denied to the database, at log-in, to the table, to a column. */
	private static final Set<Integer> MYSQL_DENIED = Set.of(1044, 1045, 1142, 1143);

	private SqlErrors() {
	}

	/** Whether the statement changed nothing because another one changed the row. */
	public static boolean isContention(SQLException ex) {
		return CONTENTION.contains(state(ex))
				|| (isH2(ex) ? H2_CONTENTION : MYSQL_CONTENTION).contains(ex.getErrorCode());
	}

	/** Whether the row was locked for longer than a statement may wait. */
	public static boolean isRowLocked(SQLException ex) {
		return LOCK_NOT_AVAILABLE.equals(state(ex))
				|| (isH2(ex) ? ex.getErrorCode() == H2_LOCK_TIMEOUT : ex.getErrorCode() == MYSQL_LOCK_WAIT_TIMEOUT);
	}

	/**
	 * Whether a statement did not lock a row because another transaction has locked it,
	 * at once or after a wait, which the bound of the statement ends in some databases.
	 */
	public static boolean isHeldByAnother(SQLException ex) {
		return isContention(ex) || STATEMENT_ENDED.equals(state(ex))
				|| (!isH2(ex) && (ex.getErrorCode() == MYSQL_NO_WAIT || MYSQL_STATEMENT_ENDED.contains(ex.getErrorCode())));
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
		return READ_ONLY.equals(state(ex))
				|| (isH2(ex) ? ex.getErrorCode() == H2_READ_ONLY : MYSQL_READ_ONLY.contains(ex.getErrorCode()));
	}

	public static boolean isDuplicateKey(SQLException ex) {
		return "23505".equals(state(ex)) || (!isH2(ex) && ex.getErrorCode() == MYSQL_DUPLICATE_KEY);
	}

	/** Returns the entry of the error catalogue for an error that is no contention. */
	public static LockError classify(SQLException ex) {
		if (MISSING.contains(state(ex)) || (isH2(ex) && H2_MISSING.contains(ex.getErrorCode()))) {
			return LockError.TABLE_MISSING;
		}
		if (DENIED.contains(state(ex)) || (isH2(ex) ? H2_DENIED : MYSQL_DENIED).contains(ex.getErrorCode())) {
			return LockError.NOT_PERMITTED;
		}
		if (!isH2(ex) && ex.getErrorCode() == MYSQL_LOGS_STATEMENTS) {
			return LockError.STORE_UNSUITABLE;
		}
		if (ex instanceof SQLTimeoutException || isRowLocked(ex) || STATEMENT_ENDED.equals(state(ex))
				|| MYSQL_STATEMENT_ENDED.contains(ex.getErrorCode())) {
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

	/** H2's own codes have five digits; PostgreSQL's errors have none. */
	private static boolean isH2(SQLException ex) {
		return ex.getClass().getName().startsWith("org.h2.");
	}

	private static String state(SQLException ex) {
		return (ex.getSQLState() != null) ? ex.getSQLState() : "";
	}

}
