package io.distributedlock.jdbc.dialect;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;

/** Execution of one statement on a connection. */
public final class Sql {

	/** The table that the schema scripts create. */
	public static final String SCRIPT_TABLE = "distributed_lock";

	private Sql() {
	}

	/** Executes SQL, which can be several statements where the driver allows that. */
	public static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	public static <T> List<T> query(Connection connection, String sql, Reader<T> reader, @Nullable Object... arguments)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			bind(statement, arguments);
			// MySQL's driver returns the rows of INSERT … RETURNING in no other way.
			statement.execute();
			try (ResultSet result = statement.getResultSet()) {
				List<T> rows = new ArrayList<>();
				while (result.next()) {
					rows.add(reader.read(result));
				}
				return rows;
			}
		}
	}

	public static int update(Connection connection, String sql, @Nullable Object... arguments) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			bind(statement, arguments);
			return statement.executeUpdate();
		}
	}

	/** Executes an update that ends before the first of the keys in its list. */
	static int updateIn(Connection connection, String sql, Object argument, List<Object> keys) throws SQLException {
		List<Object> arguments = new ArrayList<>(List.of(argument));
		arguments.addAll(keys);
		return update(connection, sql + String.join(",", Collections.nCopies(keys.size(), "?")) + ")",
				arguments.toArray());
	}

	/** Executes an update for several rows, and returns how many each has changed. */
	static int[] batch(Connection connection, String sql, List<Object[]> rows) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (Object[] row : rows) {
				bind(statement, row);
				statement.addBatch();
			}
			return rows.isEmpty() ? new int[0] : statement.executeBatch();
		}
	}

	/**
	 * Inserts or updates a row.
	 * @return the number that the statement gives to {@code LAST_INSERT_ID}, 0 for none
	 */
	static long insert(Connection connection, String sql, @Nullable Object... arguments) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
			bind(statement, arguments);
			statement.executeUpdate();
			try (ResultSet keys = statement.getGeneratedKeys()) {
				return keys.next() ? keys.getLong(1) : 0;
			}
		}
	}

	private static void bind(PreparedStatement statement, @Nullable Object[] arguments) throws SQLException {
		for (int i = 0; i < arguments.length; i++) {
			Object argument = arguments[i];
			if (argument instanceof Array array) {
				statement.setArray(i + 1, array);
			}
			else if (argument instanceof byte[] bytes) {
				statement.setBytes(i + 1, bytes);
			}
			else {
				statement.setObject(i + 1, argument);
			}
		}
	}

	/**
	 * Loads the script that creates a table.
	 * @param folder the class path of the scripts
	 * @param platform the name of the database's script
	 * @param scriptTable the name of the table in it
	 */
	public static String script(String folder, String platform, String scriptTable, String table) {
		try {
			return new ClassPathResource(folder + "/schema-" + platform + ".sql", Sql.class.getClassLoader())
				.getContentAsString(StandardCharsets.UTF_8)
				.replace(scriptTable, table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Reader of the current row of a result. */
	public interface Reader<T> {

		T read(ResultSet result) throws SQLException;

	}

}
