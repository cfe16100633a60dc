package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;

/**
 * Limit of the reads of a connection, which ends a statement of a database that does not
 * answer at all. The connection is then closed. To be closed after the statement.
 */
@FunctionalInterface
interface ReadLimit extends AutoCloseable {

	/**
	 * Limits reads by the time-out of the statement, and 2 s for the answer after it.
	 * Leaves a lower limit, and a driver that supports none.
	 */
	static ReadLimit of(Connection connection, int seconds) throws SQLException {
		int millis = (seconds + 2) * 1000;
		try {
			int found = connection.getNetworkTimeout();
			if (found <= 0 || found > millis) {
				connection.setNetworkTimeout(Runnable::run, millis);
				return () -> {
					if (!connection.isClosed()) {
						connection.setNetworkTimeout(Runnable::run, found);
					}
				};
			}
		}
		catch (SQLFeatureNotSupportedException ex) {
			// Its statements end by their own time-out.
		}
		return () -> {
			// Nothing was changed.
		};
	}

	@Override
	void close() throws SQLException;

}
