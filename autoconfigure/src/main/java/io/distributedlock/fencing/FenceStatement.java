package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Creation of a statement that waits for a fence.
 */
@FunctionalInterface
interface FenceStatement {

	/** Prepares a statement with the time-out. */
	PreparedStatement prepare(Connection connection, String sql) throws SQLException;

	/** Creates statements with a time-out. */
	static FenceStatement within(int seconds) {
		return (connection, sql) -> {
			PreparedStatement statement = connection.prepareStatement(sql);
			try {
				statement.setQueryTimeout(seconds);
				return statement;
			}
			catch (SQLException ex) {
				statement.close();
				throw ex;
			}
		};
	}

}
