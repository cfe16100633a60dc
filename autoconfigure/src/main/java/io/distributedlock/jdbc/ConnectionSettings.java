package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * How a connection of somebody else's pool came, and has to go back.
 *
 * @param autoCommit whether each statement is a transaction
 * @param isolation the isolation of transactions
 */
record ConnectionSettings(boolean autoCommit, int isolation) {

	/** What a statement of ours needs. */
	static final ConnectionSettings FIT = new ConnectionSettings(true, Connection.TRANSACTION_READ_COMMITTED);

	/** Changes what is different now; each change may be a round trip. */
	void change(Connection connection, ConnectionSettings now) throws SQLException {
		if (this.isolation != now.isolation) {
			connection.setTransactionIsolation(this.isolation);
		}
		if (this.autoCommit != now.autoCommit) {
			connection.setAutoCommit(this.autoCommit);
		}
	}

}
