package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.Dialect;

/**
 * Work with a connection during one call of the database.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface SqlCall<T extends @Nullable Object> {

	T run(Connection connection, Dialect dialect) throws SQLException;

	/**
	 * Compensation of a call that ended after its caller had abandoned it.
	 *
	 * @param <T> the result of the call
	 */
	@FunctionalInterface
	public interface Compensation<T extends @Nullable Object> {

		void run(Connection connection, Dialect dialect, T result) throws SQLException;

	}

}
