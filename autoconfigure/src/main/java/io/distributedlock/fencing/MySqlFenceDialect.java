package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Fences in MySQL and MariaDB. A statement by the primary key locks one row and no gap
 * beside it. Neither statement reads a snapshot: at REPEATABLE READ that of the
 * transaction begins with the first plain SELECT, after the fence.
 */
final class MySqlFenceDialect extends FenceDialect {

	/** The row was changed, which only a fence that is not higher allows. */
	private static final int CHANGED = 2;

	/**
	 * Lock wait, {@code max_statement_time}, {@code KILL QUERY}, and the driver's own.
	 */
	private static final Set<Integer> TIMEOUTS = Set.of(1205, 1969, 1317, 3024);

	/** The database of a URL, and the servers before it. */
	private static final Pattern DATABASE = Pattern.compile("^(jdbc:[^/]*//[^/?]*)/.*");

	private final String advance;

	private final String read;

	MySqlFenceDialect(String platform, String table) {
		super(platform, table);
		// Assignments run from left to right: the token comes after what looks at it.
		this.advance = "INSERT INTO " + table + " (fence_key, token, changed_at) VALUES (?, ?, UTC_TIMESTAMP(6))"
				+ " ON DUPLICATE KEY UPDATE changed_at = IF(token <= VALUES(token), VALUES(changed_at), changed_at),"
				+ " token = GREATEST(token, VALUES(token))";
		this.read = "SELECT token FROM " + table + " WHERE fence_key = ? FOR UPDATE";
	}

	/** A schema is a database here, which the URL can have, too. */
	@Override
	Location location(Connection connection) throws SQLException {
		String url = String.valueOf(connection.getMetaData().getURL());
		return isQualified() ? new Location(DATABASE.matcher(url).replaceFirst("$1"), null, null)
				: new Location(url, connection.getCatalog(), null);
	}

	/**
	 * Reads the fence unless the count tells enough: 1 is an inserted row, or by the
	 * driver's default also one that was left as it is.
	 */
	@Override
	boolean advance(Connection connection, String key, long token, int seconds) throws SQLException {
		int count = execute(connection, this.advance, seconds, PreparedStatement::executeUpdate, parameter(key), token);
		return count == CHANGED || execute(connection, this.read, seconds, hasToken(token), parameter(key));
	}

	/** At SERIALIZABLE each SELECT reads the latest rows, and locks them. */
	@Override
	boolean supportsIsolation(Connection connection, boolean first) throws SQLException {
		return first || connection.getTransactionIsolation() != Connection.TRANSACTION_REPEATABLE_READ;
	}

	@Override
	boolean isTimeout(SQLException ex) {
		return ex instanceof SQLTimeoutException || TIMEOUTS.contains(ex.getErrorCode());
	}

	@Override
	String oldCondition() {
		return "changed_at < UTC_TIMESTAMP(6) - INTERVAL ? DAY";
	}

}
