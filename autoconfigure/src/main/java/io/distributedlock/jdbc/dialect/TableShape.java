package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Columns of the lock table as they were created.
 *
 * @param unsuitable the columns that cannot hold their values, each with what it has and
 * what it needs
 * @param exact whether different keys never count as equal
 * @param unique whether the table refuses a second row with a key
 */
public record TableShape(List<String> unsuitable, boolean exact, boolean unique) {

	/** Three keys that no row has, unless keys that differ count as equal. */
	private static final String SHAPE = """
			SELECT * FROM {table} WHERE lock_key IN (?, ?, ?)""";

	private static final Map<String, Integer> LENGTHS = Map.of("owner", 41, "holder", 255, "first_waiter", 32,
			"second_waiter", 32);

	private static final Set<String> NUMBERS = Set.of("grant_order", "expires_at", "acquired_at", "first_waiter_since",
			"first_waiter_until", "second_waiter_since", "second_waiter_until");

	/** Reads the shape of the table of a dialect. Changes nothing. */
	public static TableShape read(Connection connection, Dialect dialect) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(dialect.sql(SHAPE))) {
			for (int i = 0; i < LockKeyEncoder.SIMILAR_TO_FORMAT_ROW.size(); i++) {
				statement.setObject(i + 1, dialect.stored(LockKeyEncoder.SIMILAR_TO_FORMAT_ROW.get(i)));
			}
			try (ResultSet rows = statement.executeQuery()) {
				ResultSetMetaData columns = rows.getMetaData();
				List<String> unsuitable = new ArrayList<>();
				boolean exact = !rows.next();
				for (int i = 1; i <= columns.getColumnCount(); i++) {
					String name = columns.getColumnName(i).toLowerCase(Locale.ROOT);
					exact &= !name.equals("lock_key") || dialect.isExact(columns.getColumnType(i));
					addUnsuitable(unsuitable, columns, i, name, dialect);
				}
				return new TableShape(unsuitable, exact, dialect.isKeyUnique(connection));
			}
		}
	}

	private static void addUnsuitable(List<String> unsuitable, ResultSetMetaData columns, int column, String name,
			Dialect dialect) throws SQLException {
		if (NUMBERS.contains(name) && !dialect.isNumber(columns.getColumnType(column))) {
			unsuitable.add("%s (%s, needs BIGINT)".formatted(name, columns.getColumnTypeName(column)));
		}
		if (columns.isAutoIncrement(column) && dialect.mistakesGeneratedKeys()) {
			unsuitable.add(name + " (is numbered by the database)");
		}
		int needed = name.equals("lock_key") ? LockKeyEncoder.LENGTH : LENGTHS.getOrDefault(name, 0);
		int found = columns.getPrecision(column);
		// A column without a bound has no precision in some drivers.
		if (found > 0 && found < needed) {
			unsuitable.add("%s (%d, needs %d)".formatted(name, found, needed));
		}
	}

}
