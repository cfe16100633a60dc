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
	private static final Codes CONTENTION = Codes.of("40001", "40P01", LOCK_NOT_AVAILABLE, "40XL1", "57033", "h2:40001",
			"h2:50200", "h2:90131", "mysql:1020", "mysql:1205", "mysql:1213", "oracle:54", "oracle:60", "oracle:8177",
			"oracle:30006", "sqlserver:1205", "sqlserver:1222", "sqlserver:3960");

	private static final Codes ROW_LOCKED = Codes.of(LOCK_NOT_AVAILABLE, "40XL1", "h2:50200", "mysql:1205", "oracle:54",
			"oracle:30006", "sqlserver:1222");

	/** MySQL says so only of a statement that does not wait. */
	private static final Codes ROW_LOCKED_NOW = Codes.of("mysql:3572");

	/**
	 * A time-out of the session; in MySQL {@code max_statement_time} and
	 * {@code max_execution_time}.
	 */
	private static final Codes STATEMENT_ENDED = Codes.of("57014", "XCL52", "mysql:" + MARIADB_STATEMENT_TIMEOUT,
			"mysql:3024");

	/** {@code KILL QUERY}: says nothing of the lock. */
	private static final Codes KILLED = Codes.of("mysql:1317");

	/** The transaction may only read, or the server by one of its options. */
	private static final Codes READ_ONLY = Codes.of("25006", "25502", "h2:90097", "mysql:1290", "mysql:1836",
			"oracle:1456", "oracle:16000", "sqlserver:3906");

	private static final Codes DUPLICATE_KEY = Codes.of("23505", "mysql:1062", "oracle:1", "sqlserver:2601",
			"sqlserver:2627");

	private static final Codes LOGS_STATEMENTS = Codes.of("mysql:1665");

	/** HSQLDB says the same of a table that is missing and of one that is denied. */
	private static final Codes MISSING = Codes.of("42P01", "42703", "3F000", "42S02", "42S03", "42S04", "42S22",
			"42X04", "42X05", "42X14", "42Y03", "42Y07", "hsqldb:-204", "hsqldb:-5501", "h2:42102", "h2:42103",
			"h2:42104", "h2:42122", "h2:90079", "oracle:904", "oracle:942", "sqlserver:207", "sqlserver:208");

	/** Access denied: to the database, at log-in, to the table, to a column. */
	private static final Codes DENIED = Codes.of("42501", "28000", "28P01", "42500", "42502", "42504", "42507",
			"h2:90096", "h2:90040", "h2:28000", "mysql:1044", "mysql:1045", "mysql:1142", "mysql:1143", "oracle:1017",
			"oracle:1031", "sqlserver:229", "sqlserver:230", "sqlserver:18456");

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
			case TABLE_MISSING ->
				"lacks the table '" + table + "', one of its columns, or '" + table + "_share' for shared locks: "
						+ ex.getMessage() + ((dialect != null) ? "\nCreate the table with:\n" + dialect.schema() : "");
			case NOT_PERMITTED -> "denies access to the table '" + table + "', or to '" + table
					+ "_share' for shared locks, which may be missing. Grant SELECT, INSERT, UPDATE and DELETE: "
					+ ex.getMessage();
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
	 * @param codes SQL states of any database, and the codes of one with its name before
	 * them; MariaDB has those of MySQL
	 */
	private record Codes(Set<String> codes) {

		private static Codes of(String... codes) {
			return new Codes(Set.of(codes));
		}

		private boolean have(SQLException ex) {
			return this.codes.contains(state(ex)) || this.codes.contains(vendor(ex) + ":" + ex.getErrorCode());
		}

		/** Returns the database of an error; many drivers have no types of their own. */
		private static String vendor(SQLException ex) {
			String type = ex.getClass().getName();
			if (type.startsWith("org.h2.")) {
				return "h2";
			}
			if (type.startsWith("com.microsoft.")) {
				return "sqlserver";
			}
			if (String.valueOf(ex.getMessage()).startsWith("ORA-")) {
				return "oracle";
			}
			return (ex.getErrorCode() < 0) ? "hsqldb" : "mysql";
		}

	}

}
