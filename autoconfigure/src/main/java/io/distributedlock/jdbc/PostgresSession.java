package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Session of PostgreSQL behind a connection. A pooler such as PgBouncer announces a
 * process id of its own instead of that of the server's process, and may give each
 * transaction another session.
 */
final class PostgresSession {

	private PostgresSession() {
	}

	/** Whether a pooler stands between the driver and the server. */
	static boolean isPooled(Connection connection) throws SQLException {
		return connection.isWrapperFor(PGConnection.class)
				&& connection.unwrap(PGConnection.class).getBackendPID() != processId(connection);
	}

	/** Returns the id of the server's process that executes the statement. */
	static int processId(Connection connection) throws SQLException {
		return Sql.query(connection, "SELECT pg_backend_pid()", (row) -> row.getInt(1)).get(0);
	}

	/**
	 * Prepares a new connection for locks. Bounds how late a command can take effect by
	 * settings of the session, which behind a pooler would become those of other clients.
	 * There, statements are not prepared on the server, because the next call may reach
	 * another session.
	 * @param initSql the SQL by which the application prepares a connection, executed
	 * first
	 * @param callTimeout how long a statement may take, and each one of this preparation
	 */
	static void prepare(Connection connection, @Nullable String initSql, Duration callTimeout) throws SQLException {
		int millis = (int) Math.min(Math.max(callTimeout.toMillis(), 1), Integer.MAX_VALUE);
		int found = connection.getNetworkTimeout();
		connection.setNetworkTimeout(Runnable::run, millis);
		if (initSql != null) {
			execute(connection, initSql);
		}
		if (isPooled(connection)) {
			connection.unwrap(PGConnection.class).setPrepareThreshold(0);
		}
		else if (connection.isWrapperFor(PGConnection.class)) {
			execute(connection, """
					SET statement_timeout = %d; SET lock_timeout = %d; SELECT set_config(name, '%d', false) \
					FROM pg_settings WHERE name = 'client_connection_check_interval' AND version() LIKE '%%linux%%'"""
				.formatted(millis, Math.max(millis / 2, 1), millis));
		}
		connection.setNetworkTimeout(Runnable::run, found);
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
