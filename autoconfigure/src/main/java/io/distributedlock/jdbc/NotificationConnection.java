package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;

import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.distributedlock.jdbc.connection.DedicatedConnection;
import io.distributedlock.jdbc.dialect.Sql;

/** Connection that listens on a channel of PostgreSQL. */
final class NotificationConnection implements AutoCloseable {

	private static final int VALIDATION_SECONDS = 1;

	private final DedicatedConnection dedicated;

	private final PGConnection driver;

	private NotificationConnection(DedicatedConnection dedicated, PGConnection driver) {
		this.dedicated = dedicated;
		this.driver = driver;
	}

	/** Listens on the connection, or closes it if it cannot listen. */
	static NotificationConnection listen(DedicatedConnection dedicated, String channel) throws SQLException {
		try (Statement statement = dedicated.connection().createStatement()) {
			PGConnection driver = dedicated.connection().unwrap(PGConnection.class);
			statement.execute("LISTEN \"" + channel + '"');
			return new NotificationConnection(dedicated, driver);
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			dedicated.close();
			throw ex;
		}
	}

	/**
	 * Returns the payloads received since the last call. Waits for the first of them.
	 * @param millis how long to wait
	 */
	List<String> await(int millis) throws SQLException {
		PGNotification[] notifications = this.driver.getNotifications(Math.max(millis, 1));
		return (notifications != null) ? Stream.of(notifications).map(PGNotification::getParameter).toList()
				: List.of();
	}

	boolean isAlive() throws SQLException {
		return this.dedicated.connection().isValid(VALIDATION_SECONDS);
	}

	/** Sends a notification over any connection. */
	static void send(Connection connection, String channel, String payload) throws SQLException {
		Sql.query(connection, "SELECT pg_notify(?, ?)", (row) -> "", channel, payload);
	}

	/** Aborts the connection. Any thread may call it. */
	void abort() throws SQLException {
		this.dedicated.abort();
	}

	@Override
	public void close() {
		this.dedicated.close();
	}

}
