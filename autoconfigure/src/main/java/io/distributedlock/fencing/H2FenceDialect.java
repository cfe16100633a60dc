package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;

/** Fences in H2, at READ COMMITTED. */
final class H2FenceDialect extends FenceDialect {

	/** Two transactions that insert the same fence first, one after the other. */
	private static final int DUPLICATE_KEY = 23505;

	private static final int ATTEMPTS = 3;

	/** A lock time-out, and a cancelled statement. */
	private static final Set<Integer> TIMEOUTS = Set.of(50200, 57014);

	private final String advance;

	H2FenceDialect(String table) {
		super("h2", table);
		this.advance = "SELECT token FROM FINAL TABLE (MERGE INTO " + table
				+ " f USING (SELECT CAST(? AS VARBINARY) AS fence_key, CAST(? AS BIGINT) AS token) n"
				+ " ON (f.fence_key = n.fence_key) WHEN MATCHED THEN UPDATE SET token = GREATEST(f.token, n.token),"
				+ " changed_at = CASE WHEN f.token <= n.token THEN CURRENT_TIMESTAMP(6) ELSE f.changed_at END"
				+ " WHEN NOT MATCHED THEN INSERT (fence_key, token, changed_at)"
				+ " VALUES (n.fence_key, n.token, CURRENT_TIMESTAMP(6)))";
	}

	@Override
	boolean advance(Connection connection, String key, long token, int seconds) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return execute(connection, this.advance, seconds, hasToken(token), parameter(key), token);
			}
			catch (SQLException ex) {
				if (ex.getErrorCode() != DUPLICATE_KEY || attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	/** H2 has the time-out of a statement in the session. */
	@Override
	<T> T execute(Connection connection, String sql, int seconds, Execution<T> execution, Object... parameters)
			throws SQLException {
		try (Statement session = connection.createStatement()) {
			int former = session.getQueryTimeout();
			try {
				return super.execute(connection, sql, seconds, execution, parameters);
			}
			finally {
				session.setQueryTimeout(former);
			}
		}
	}

	@Override
	boolean supportsIsolation(Connection connection, boolean first) throws SQLException {
		int isolation = connection.getTransactionIsolation();
		return isolation == Connection.TRANSACTION_READ_COMMITTED
				|| isolation == Connection.TRANSACTION_READ_UNCOMMITTED;
	}

	@Override
	boolean isTimeout(SQLException ex) {
		return TIMEOUTS.contains(ex.getErrorCode());
	}

	@Override
	String oldCondition() {
		return "changed_at < DATEADD(DAY, -CAST(? AS INT), CURRENT_TIMESTAMP(6))";
	}

}
