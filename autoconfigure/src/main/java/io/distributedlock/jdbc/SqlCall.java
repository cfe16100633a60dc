package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * What is done with a connection during one bounded call.
 *
 * @param <T> what it finds out
 */
@FunctionalInterface
interface SqlCall<T extends @Nullable Object> {

	T run(Connection connection, Dialect dialect) throws SQLException;

	/**
	 * Undoes what a call did whose caller had left before it ended.
	 *
	 * @param <T> what the call had found out
	 */
	@FunctionalInterface
	interface Undo<T extends @Nullable Object> {

		void run(Connection connection, Dialect dialect, T result) throws SQLException;

	}

}
