package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.jdbc.dialect.SqlErrors;

/** Exceptions for what a statement on the fences has met. */
final class FenceErrors {

	private static final SQLExceptionSubclassTranslator TRANSLATOR = new SQLExceptionSubclassTranslator();

	private FenceErrors() {
	}

	/**
	 * Translates a failure as Spring does for the application's own statements, so that a
	 * deadlock or a serialization failure can be retried like any other.
	 */
	static RuntimeException translate(SQLException ex, FenceDialect dialect, LockKey key, int seconds) {
		LockError error = SqlErrors.classify(ex);
		if (error == LockError.STORE_TIMEOUT) {
			return new FenceTimeoutException(key, seconds, ex);
		}
		if (error == LockError.TABLE_MISSING) {
			return missing(dialect, "", ex);
		}
		String task = "Fence of lock '" + key + "'";
		DataAccessException translated = TRANSLATOR.translate(task, null, ex);
		return (translated != null) ? translated : new UncategorizedSQLException(task, null, ex);
	}

	static LockConfigurationException missing(FenceDialect dialect, String where, SQLException cause) {
		return new LockConfigurationException(LockError.FENCE_TABLE_MISSING,
				"distributed-lock.fencing.enabled is true, but the database" + where + " lacks the table '"
						+ dialect.table() + "' or one of its columns (" + cause.getMessage() + ")",
				"Create it, or set distributed-lock.fencing.initialize-schema=always, if the database is that of"
						+ " the single or primary DataSource:\n" + dialect.schema(),
				cause);
	}

	/**
	 * Refuses to fence a transaction that may read older data than the fence.
	 * @param first whether the fence is its first statement
	 */
	static LockConfigurationException unsupportedIsolation(LockKey key, Connection connection, boolean first)
			throws SQLException {
		return new LockConfigurationException(LockError.FENCE_ISOLATION,
				"Lock '" + key + "' cannot fence a transaction at " + isolation(connection.getTransactionIsolation())
						+ " in " + connection.getMetaData().getDatabaseProductName()
						+ (first ? "" : " that was running when the lock was acquired")
						+ ": it may read older data than that of the last holder",
				(first ? "Use" : "Acquire the lock before the transaction begins, or use")
						+ " READ COMMITTED, as by @Transactional(isolation = Isolation.READ_COMMITTED)");
	}

	private static String isolation(int level) {
		return switch (level) {
			case Connection.TRANSACTION_REPEATABLE_READ -> "REPEATABLE READ";
			case Connection.TRANSACTION_SERIALIZABLE -> "SERIALIZABLE";
			default -> "isolation level " + level;
		};
	}

}
