package io.distributedlock.jdbc;

import java.sql.SQLException;
import java.util.regex.Pattern;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Name of a table as a property has it. It stands in scripts and statements as it is.
 *
 * @since 0.1.0
 */
public final class TableName {

	private static final Pattern PLAIN = Pattern
		.compile("[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?");

	private static final int MYSQL_SYNTAX_ERROR = 1064;

	private TableName() {
	}

	/**
	 * Requires a plain name.
	 * @param property the property that has the name
	 * @param name the name, optionally with its schema
	 * @throws LockConfigurationException if the name has other characters than letters,
	 * digits and underscores
	 */
	public static void require(String property, String name) {
		if (!PLAIN.matcher(name).matches()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property " + property + " is '" + name + "', which is not a plain table name",
					"Use letters, digits and underscores, optionally after a schema and a dot");
		}
	}

	/**
	 * Requires that a statement which has the name did not fail because of its syntax,
	 * which is right unless the database reserves the word.
	 * @param property the property that has the name
	 * @param name the name
	 * @param failure the failure of the statement
	 * @throws LockConfigurationException if the database reserves the name
	 */
	public static void requireUnreserved(String property, String name, SQLException failure) {
		String state = String.valueOf(failure.getSQLState());
		if (state.equals("42601") || state.equals("42001") || failure.getErrorCode() == MYSQL_SYNTAX_ERROR) {
			throw new LockConfigurationException(
					LockError.INVALID_PROPERTY, "The property " + property + " is '" + name
							+ "', which the database reserves: " + failure.getMessage(),
					"Choose another name", failure);
		}
	}

}
