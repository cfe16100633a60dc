package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Fences in PostgreSQL. At REPEATABLE READ and above the fence of a holder that has
 * waited for its predecessor fails with 40001, so that no snapshot is older than the
 * fence.
 */
final class PostgresFenceDialect extends FenceDialect {

	private final String advance;

	PostgresFenceDialect(String table) {
		super("postgresql", table);
		this.advance = "INSERT INTO " + table + " AS f (fence_key, token, changed_at) VALUES (?, ?, clock_timestamp())"
				+ " ON CONFLICT (fence_key) DO UPDATE SET token = EXCLUDED.token, changed_at = EXCLUDED.changed_at"
				+ " WHERE f.token <= EXCLUDED.token";
	}

	@Override
	boolean advance(Connection connection, String key, long token, int seconds) throws SQLException {
		return execute(connection, this.advance, seconds, PreparedStatement::executeUpdate, key, token) == 1;
	}

	@Override
	boolean supportsIsolation(Connection connection, boolean first) {
		return true;
	}

	/** Cancelled by the driver, or by a {@code lock_timeout} of the application. */
	@Override
	boolean isTimeout(SQLException ex) {
		return "57014".equals(ex.getSQLState()) || "55P03".equals(ex.getSQLState());
	}

	@Override
	String oldCondition() {
		return "changed_at < clock_timestamp() - ? * interval '1 day'";
	}

	@Override
	Object parameter(String key) {
		return key;
	}

}
