package io.distributedlock.fencing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;

import io.distributedlock.jdbc.dialect.Sql;

/** Statements of one kind of database on the table of the fences. */
abstract class FenceDialect {

	private final String platform;

	private final String table;

	FenceDialect(String platform, String table) {
		this.platform = platform;
		this.table = table;
	}

	final String table() {
		return this.table;
	}

	/**
	 * Returns where the table of the fences is: a {@code DataSource} can choose a
	 * database or a schema for each transaction, but not those that the name of the table
	 * has. The parameters of a URL may name a schema, too.
	 */
	Location location(Connection connection) throws SQLException {
		String url = String.valueOf(connection.getMetaData().getURL());
		return isQualified() ? new Location(url.split("[?;]", 2)[0], connection.getCatalog(), null)
				: new Location(url, connection.getCatalog(), connection.getSchema());
	}

	/** Returns whether the name of the table has its schema. */
	final boolean isQualified() {
		return this.table.indexOf('.') >= 0;
	}

	/**
	 * Moves a fence up to a token, in the transaction of the connection, which has the
	 * row of the fence until it ends.
	 * @param seconds how long to wait for the row
	 * @return whether the fence is not higher than the token
	 */
	abstract boolean advance(Connection connection, String key, long token, int seconds) throws SQLException;

	/**
	 * Whether what the transaction reads after the fence is not older than the fence.
	 * @param first whether the fence is the first statement of the transaction
	 */
	abstract boolean supportsIsolation(Connection connection, boolean first) throws SQLException;

	/** Whether a failure means that the fence was not free in time. */
	abstract boolean isTimeout(SQLException ex);

	/** The condition of fences that have not moved for days; takes the days. */
	abstract String oldCondition();

	/** Returns a key as a parameter. */
	Object parameter(String key) {
		return key.getBytes(StandardCharsets.UTF_8);
	}

	/** Executes a statement with a time-out, which does not outlive it. */
	<T> T execute(Connection connection, String sql, int seconds, Execution<T> execution, Object... parameters)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setQueryTimeout(seconds);
			for (int index = 0; index < parameters.length; index++) {
				statement.setObject(index + 1, parameters[index]);
			}
			return execution.run(statement);
		}
	}

	/** Reads whether a fence has a token. */
	static Execution<Boolean> hasToken(long token) {
		return (statement) -> {
			try (ResultSet row = statement.executeQuery()) {
				return row.next() && row.getLong(1) == token;
			}
		};
	}

	/** Returns the script that creates the table. */
	final String schema() {
		try {
			return new ClassPathResource("schema-" + this.platform + ".sql", FenceDialect.class)
				.getContentAsString(StandardCharsets.UTF_8)
				.replace(FenceSettings.DEFAULT_TABLE, this.table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Fails if the table or a column is missing. */
	final void requireTable(Connection connection) throws SQLException {
		Sql.query(connection, "SELECT fence_key, token, changed_at FROM " + this.table + " WHERE 1 = 0",
				(row) -> row.getLong(2));
	}

	/** Returns keys of old fences, in their order. */
	final List<String> readOld(Connection connection, String after, int days, int limit) throws SQLException {
		return Sql.query(connection,
				"SELECT fence_key FROM " + this.table + " WHERE fence_key > ? AND " + oldCondition()
						+ " ORDER BY fence_key LIMIT " + limit,
				(row) -> new String(row.getBytes(1), StandardCharsets.UTF_8), parameter(after), days);
	}

	/** Deletes a fence if it is still old once its row is free. */
	final int deleteOld(Connection connection, String key, int days) throws SQLException {
		return execute(connection, "DELETE FROM " + this.table + " WHERE fence_key = ? AND " + oldCondition(), 1,
				PreparedStatement::executeUpdate, parameter(key), days);
	}

	/**
	 * Location of the table of the fences, as the session of a transaction finds it.
	 *
	 * @param url the server, and what else the URL of the connection has
	 * @param catalog the database of the session, or {@code null} if it does not matter
	 * @param schema the schema of the session, or {@code null} if it does not matter
	 */
	record Location(String url, @Nullable String catalog, @Nullable String schema) {
	}

	/** What is done with a statement. */
	@FunctionalInterface
	interface Execution<T> {

		T run(PreparedStatement statement) throws SQLException;

	}

}
