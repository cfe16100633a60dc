package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Settings of a connection from a foreign pool, restored before the connection returns.
 *
 * @param autoCommit whether each statement is a transaction
 * @param isolation the isolation of transactions, a constant of {@link Connection}
 */
public record ConnectionSettings(boolean autoCommit, int isolation) {

	/** The settings that the statements of locks need. */
	public static final ConnectionSettings REQUIRED = new ConnectionSettings(true,
			Connection.TRANSACTION_READ_COMMITTED);

	/**
	 * Applies what differs from the current settings; each change may be a round trip.
	 */
	public void apply(Connection connection, ConnectionSettings current) throws SQLException {
		if (this.isolation != current.isolation) {
			connection.setTransactionIsolation(this.isolation);
		}
		if (this.autoCommit != current.autoCommit) {
			connection.setAutoCommit(this.autoCommit);
		}
	}

}
