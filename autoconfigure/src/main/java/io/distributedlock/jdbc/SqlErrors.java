package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

/** Tells what a database meant by an error: contention, a time-out, or a failure. */
final class SqlErrors {

	static final String PROVIDER = "jdbc";

	static final String LOCK_NOT_AVAILABLE = "55P03";

	private static final int H2_LOCK_TIMEOUT = 50200;

	private static final int MARIADB_LOCK_WAIT_TIMEOUT = 1205;

	/**
	 * Deadlock, serialization failure, lock not available; H2 has 50200 and 90131
	 * besides.
	 */
	private static final Set<String> CONTENTION = Set.of("40001", "40P01", LOCK_NOT_AVAILABLE);

	private static final Set<Integer> H2_CONTENTION = Set.of(40001, H2_LOCK_TIMEOUT, 90131);

	/** Record changed, lock wait time-out, deadlock. */
	private static final Set<Integer> MARIADB_CONTENTION = Set.of(1020, MARIADB_LOCK_WAIT_TIMEOUT, 1213);

	private static final Set<String> MISSING = Set.of("42P01", "42703", "3F000", "42S02", "42S03", "42S04", "42S22");

	private static final Set<Integer> H2_MISSING = Set.of(42102, 42103, 42104, 42122, 90079);

	private static final Set<String> DENIED = Set.of("42501", "28000", "28P01");

	private static final Set<Integer> H2_DENIED = Set.of(90096, 90040, 28000);

	/** Denied: the database, the log-in, a statement on the table, on a column. */
	private static final Set<Integer> MARIADB_DENIED = Set.of(1044, 1045, 1142, 1143);

	private SqlErrors() {
	}

	/** Whether the statement changed nothing because somebody else was at the row. */
	static boolean isContention(SQLException ex) {
		return CONTENTION.contains(state(ex))
				|| (isH2(ex) ? H2_CONTENTION : MARIADB_CONTENTION).contains(ex.getErrorCode());
	}

	/** Whether the row stayed locked for longer than a statement may wait. */
	static boolean isRowLocked(SQLException ex) {
		return LOCK_NOT_AVAILABLE.equals(state(ex))
				|| (isH2(ex) ? ex.getErrorCode() == H2_LOCK_TIMEOUT : ex.getErrorCode() == MARIADB_LOCK_WAIT_TIMEOUT);
	}

	/**
	 * Whether the connection is of no use any more. A pool that does not know it by the
	 * error hands it out again, for as long as it is used often enough not to be tested.
	 */
	static boolean isConnectionLost(SQLException ex) {
		return ex instanceof SQLNonTransientConnectionException || ex instanceof SQLRecoverableException
				|| state(ex).startsWith("08");
	}

	static boolean isDuplicateKey(SQLException ex) {
		return "23505".equals(state(ex));
	}

	static LockError classify(SQLException ex) {
		if (MISSING.contains(state(ex)) || (isH2(ex) && H2_MISSING.contains(ex.getErrorCode()))) {
			return LockError.TABLE_MISSING;
		}
		if (DENIED.contains(state(ex)) || (isH2(ex) ? H2_DENIED : MARIADB_DENIED).contains(ex.getErrorCode())) {
			return LockError.NOT_PERMITTED;
		}
		if (ex instanceof SQLTimeoutException || "57014".equals(state(ex))
				|| ex.getErrorCode() == MariaDbDialect.STATEMENT_TIMED_OUT) {
			return LockError.STORE_TIMEOUT;
		}
		return LockError.STORE_FAILED;
	}

	static LockProviderException translate(SQLException ex, String table, @Nullable Dialect dialect) {
		LockError error = classify(ex);
		String problem = switch (error) {
			case TABLE_MISSING -> "has no table '" + table + "' with the expected columns"
					+ ((dialect != null) ? ". Create it with:\n" + dialect.schema() : "");
			case NOT_PERMITTED -> "refuses access to the table '" + table
					+ "', which needs SELECT, INSERT, UPDATE and DELETE: " + ex.getMessage();
			case STORE_TIMEOUT -> "ended a statement because it took too long: " + ex.getMessage();
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
