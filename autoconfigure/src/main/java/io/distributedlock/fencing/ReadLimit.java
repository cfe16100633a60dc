package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;

/**
 * Limit of the reads of a connection, which ends a statement of a database that does not
 * answer at all. The connection is then closed. Leaves a lower limit, and a driver that
 * supports none. To be closed after the statement.
 */
final class ReadLimit implements AutoCloseable {

	/** What a database has for answering after the time-out of a statement. */
	private static final int REST_SECONDS = 2;

	private final Connection connection;

	private final int found;

	private final boolean changed;

	private ReadLimit(Connection connection, int found, boolean changed) {
		this.connection = connection;
		this.found = found;
		this.changed = changed;
	}

	/** Limits reads by the time-out of the statement and a rest. */
	static ReadLimit of(Connection connection, int seconds) throws SQLException {
		int millis = (seconds + REST_SECONDS) * 1000;
		try {
			int found = connection.getNetworkTimeout();
			if (found > 0 && found <= millis) {
				return new ReadLimit(connection, found, false);
			}
			connection.setNetworkTimeout(Runnable::run, millis);
			return new ReadLimit(connection, found, true);
		}
		catch (SQLFeatureNotSupportedException ex) {
			return new ReadLimit(connection, 0, false);
		}
	}

	@Override
	public void close() throws SQLException {
		if (this.changed && !this.connection.isClosed()) {
			this.connection.setNetworkTimeout(Runnable::run, this.found);
		}
	}

}
