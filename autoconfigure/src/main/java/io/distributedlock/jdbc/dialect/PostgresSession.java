package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;

import org.postgresql.PGConnection;

/**
 * Session of PostgreSQL behind a connection. A pooler such as PgBouncer announces a
 * process id of its own instead of that of the server's process, and may give each
 * transaction another session.
 */
public final class PostgresSession {

	private PostgresSession() {
	}

	/** Whether a pooler stands between the driver and the server. */
	static boolean isPooled(Connection connection) throws SQLException {
		return connection.isWrapperFor(PGConnection.class)
				&& connection.unwrap(PGConnection.class).getBackendPID() != processId(connection);
	}

	/** Returns the id of the server's process that executes the statement. */
	public static int processId(Connection connection) throws SQLException {
		return Sql.query(connection, "SELECT pg_backend_pid()", (row) -> row.getInt(1)).get(0);
	}

	/**
	 * Keeps the driver from preparing statements on the server, because the next call may
	 * reach another session.
	 */
	static void disableServerPreparation(Connection connection) throws SQLException {
		connection.unwrap(PGConnection.class).setPrepareThreshold(0);
	}

}
