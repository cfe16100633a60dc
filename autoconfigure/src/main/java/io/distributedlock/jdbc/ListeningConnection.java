package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * A connection on which PostgreSQL tells what is said in a channel. All that touches its
 * driver.
 */
final class ListeningConnection implements AutoCloseable {

	private static final int VALIDATION_SECONDS = 1;

	private final DedicatedConnection dedicated;

	private final PGConnection notified;

	private ListeningConnection(DedicatedConnection dedicated, PGConnection notified) {
		this.dedicated = dedicated;
		this.notified = notified;
	}

	/** Takes the connection over, and closes it if it cannot listen. */
	static ListeningConnection listen(DedicatedConnection dedicated, String channel) throws SQLException {
		try (Statement statement = dedicated.connection().createStatement()) {
			PGConnection notified = dedicated.connection().unwrap(PGConnection.class);
			statement.execute("LISTEN \"" + channel + '"');
			return new ListeningConnection(dedicated, notified);
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			dedicated.close();
			throw ex;
		}
	}

	/** What was said since the last call; waits until something is. */
	List<String> await(int milliseconds) throws SQLException {
		PGNotification[] notifications = this.notified.getNotifications(Math.max(milliseconds, 1));
		List<String> said = new ArrayList<>();
		if (notifications != null) {
			for (PGNotification notification : notifications) {
				said.add(notification.getParameter());
			}
		}
		return said;
	}

	boolean isAlive() throws SQLException {
		return this.dedicated.connection().isValid(VALIDATION_SECONDS);
	}

	/** Says something in a channel. */
	static void say(Connection connection, String channel, String text) throws SQLException {
		Sql.query(connection, "SELECT pg_notify(?, ?)", (row) -> "", channel, text);
	}

	/** Ends what runs on the connection. Any thread may do so. */
	void abort() throws SQLException {
		this.dedicated.abort();
	}

	@Override
	public void close() {
		this.dedicated.close();
	}

}
