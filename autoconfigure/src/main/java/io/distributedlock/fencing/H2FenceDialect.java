package io.distributedlock.fencing;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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
	boolean advance(Connection connection, String key, long token, FenceStatement statement) throws SQLException {
		int timeout = readTimeout(connection);
		for (int attempt = 1;; attempt++) {
			try {
				return merge(connection, key, token, statement);
			}
			catch (SQLException ex) {
				if (ex.getErrorCode() != DUPLICATE_KEY || attempt == ATTEMPTS) {
					throw ex;
				}
			}
			finally {
				restoreTimeout(connection, timeout);
			}
		}
	}

	private boolean merge(Connection connection, String key, long token, FenceStatement statement) throws SQLException {
		try (PreparedStatement merge = statement.prepare(connection, this.advance)) {
			setKey(merge, 1, key);
			merge.setLong(2, token);
			try (ResultSet row = merge.executeQuery()) {
				return row.next() && row.getLong(1) == token;
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

	/** H2 has the time-out of a statement in the session. */
	@Override
	int readTimeout(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			return statement.getQueryTimeout();
		}
	}

	@Override
	void restoreTimeout(Connection connection, int seconds) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.setQueryTimeout(seconds);
		}
	}

	@Override
	String oldCondition() {
		return "changed_at < DATEADD(DAY, -CAST(? AS INT), CURRENT_TIMESTAMP(6))";
	}

	@Override
	void setKey(PreparedStatement statement, int index, String key) throws SQLException {
		statement.setBytes(index, key.getBytes(StandardCharsets.UTF_8));
	}

}
