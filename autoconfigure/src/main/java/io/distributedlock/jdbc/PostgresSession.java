package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

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
	 */
	static void prepare(Connection connection, Duration callTimeout) throws SQLException {
		if (!connection.isWrapperFor(PGConnection.class)) {
			return;
		}
		if (isPooled(connection)) {
			connection.unwrap(PGConnection.class).setPrepareThreshold(0);
			return;
		}
		long statementMillis = Math.max(callTimeout.toMillis(), 1);
		try (Statement statement = connection.createStatement()) {
			statement.execute("""
					SET statement_timeout = %d; SET lock_timeout = %d; SELECT set_config(name, '%d', false) \
					FROM pg_settings WHERE name = 'client_connection_check_interval' AND version() LIKE '%%linux%%'"""
				.formatted(statementMillis, Math.max(statementMillis / 2, 1), statementMillis));
		}
	}

}
