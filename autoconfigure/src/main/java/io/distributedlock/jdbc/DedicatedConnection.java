package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A connection kept for one purpose.
 *
 * @param connection the connection
 * @param end ends the connection and what it was made from
 */
record DedicatedConnection(Connection connection, Runnable end) implements AutoCloseable {

	/** Ends what runs on the connection. Any thread may do so. */
	void abort() throws SQLException {
		this.connection.abort(Runnable::run);
	}

	@Override
	public void close() {
		this.end.run();
	}

}
