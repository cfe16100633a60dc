package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Connection with one purpose, outside the pool where possible.
 *
 * @param connection the connection
 * @param closer closes the connection and the pool that opened it, if any
 */
public record DedicatedConnection(Connection connection, Runnable closer) implements AutoCloseable {

	/**
	 * Aborts the connection with the statement that runs on it. Any thread may call it.
	 */
	public void abort() throws SQLException {
		this.connection.abort(Runnable::run);
	}

	@Override
	public void close() {
		this.closer.run();
	}

}
