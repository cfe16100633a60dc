package io.distributedlock.fencing;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Sql;
import io.distributedlock.jdbc.dialect.SqlErrors;

/**
 * Statements on the table of the fences, as each kind of database takes them.
 * <p>
 * H2 is fenced at READ COMMITTED. In PostgreSQL, at REPEATABLE READ and above, the fence
 * of a holder that has waited for its predecessor fails with 40001, so that no snapshot
 * is older than the fence. In MySQL and MariaDB a statement by the primary key locks one
 * row and no gap beside it, and neither statement reads a snapshot: at REPEATABLE READ
 * that of the transaction begins with the first plain SELECT, after the fence.
 */
final class FenceDialect {

	/** The most attempts: two other transactions may insert the same fence before. */
	private static final int ATTEMPTS_OF_H2 = 3;

	/** MySQL has changed the row, which only a fence that is not higher allows. */
	private static final int CHANGED = 2;

	/** The database of MySQL's URL, and the servers before it. */
	private static final Pattern DATABASE = Pattern.compile("^(jdbc:[^/]*//[^/?]*)/.*");

	private static final String ADVANCE_H2 = """
			SELECT token FROM FINAL TABLE (MERGE INTO %s f
				USING (SELECT CAST(? AS VARBINARY) AS fence_key, CAST(? AS BIGINT) AS token) n
				ON (f.fence_key = n.fence_key)
				WHEN MATCHED THEN UPDATE SET token = GREATEST(f.token, n.token),
					changed_at = CASE WHEN f.token <= n.token THEN CURRENT_TIMESTAMP(6) ELSE f.changed_at END
				WHEN NOT MATCHED THEN INSERT (fence_key, token, changed_at)
					VALUES (n.fence_key, n.token, CURRENT_TIMESTAMP(6)))""";

	private static final String ADVANCE_POSTGRES = """
			INSERT INTO %s AS f (fence_key, token, changed_at) VALUES (?, ?, clock_timestamp())
			ON CONFLICT (fence_key) DO UPDATE SET token = EXCLUDED.token, changed_at = EXCLUDED.changed_at
			WHERE f.token <= EXCLUDED.token""";

	// Assignments run from left to right: the token comes after what looks at it.
	private static final String ADVANCE_MYSQL = """
			INSERT INTO %s (fence_key, token, changed_at) VALUES (?, ?, UTC_TIMESTAMP(6))
			ON DUPLICATE KEY UPDATE changed_at = IF(token <= VALUES(token), VALUES(changed_at), changed_at),
				token = GREATEST(token, VALUES(token))""";

	private final DatabaseKind kind;

	private final String table;

	private final String advance;

	/** The condition of fences that have not moved for days; takes the days. */
	private final String old;

	FenceDialect(DatabaseKind kind, String table) {
		this.kind = kind;
		this.table = table;
		String template = switch (kind) {
			case H2 -> ADVANCE_H2;
			case POSTGRESQL -> ADVANCE_POSTGRES;
			case MARIADB -> ADVANCE_MYSQL + " RETURNING token";
			case MYSQL -> ADVANCE_MYSQL;
			default -> throw DatabaseKind.unsupported(kind.name());
		};
		this.advance = template.formatted(table);
		this.old = switch (kind) {
			case H2 -> "changed_at < DATEADD(DAY, -CAST(? AS INT), CURRENT_TIMESTAMP(6))";
			case POSTGRESQL -> "changed_at < clock_timestamp() - ? * interval '1 day'";
			default -> "changed_at < UTC_TIMESTAMP(6) - INTERVAL ? DAY";
		};
	}

	/**
	 * Returns the dialect of a database, by what its server says of itself.
	 * @throws LockConfigurationException if its transactions cannot be fenced
	 */
	static FenceDialect of(Connection connection, String table) throws SQLException {
		try {
			return new FenceDialect(DatabaseKind.of(connection), table);
		}
		catch (LockConfigurationException ex) {
			throw new LockConfigurationException(LockError.FENCE_UNSUPPORTED,
					ex.problem() + ", so that its transactions cannot be fenced",
					"Set distributed-lock.fencing.enabled=false, and compare the fencing token in the statements that"
							+ " write; only PostgreSQL, MySQL, MariaDB and H2 are supported",
					ex);
		}
	}

	String table() {
		return this.table;
	}

	private boolean isMySql() {
		return this.kind == DatabaseKind.MARIADB || this.kind == DatabaseKind.MYSQL;
	}

	/**
	 * Returns where the table of the fences is: a {@code DataSource} can choose a
	 * database or a schema for each transaction, but not those that the name of the table
	 * has. The parameters of a URL may name a schema, too. A schema is a database in
	 * MySQL, which the URL can have as well.
	 */
	Location location(Connection connection) throws SQLException {
		String url = String.valueOf(connection.getMetaData().getURL());
		boolean qualified = this.table.indexOf('.') >= 0;
		if (isMySql()) {
			return qualified ? new Location(DATABASE.matcher(url).replaceFirst("$1"), null, null)
					: new Location(url, connection.getCatalog(), null);
		}
		return qualified ? new Location(url.split("[?;]", 2)[0], connection.getCatalog(), null)
				: new Location(url, connection.getCatalog(), connection.getSchema());
	}

	/**
	 * Moves a fence up to a token, in the transaction of the connection, which has the
	 * row of the fence until it ends.
	 * @param seconds how long to wait for the row
	 * @return whether the fence is not higher than the token
	 */
	boolean advance(Connection connection, String key, long token, int seconds) throws SQLException {
		if (this.kind == DatabaseKind.H2) {
			return advanceInH2(connection, key, token, seconds) == token;
		}
		long answer = execute(connection, this.advance, seconds, parameter(key), token);
		if (this.kind == DatabaseKind.POSTGRESQL) {
			return answer == 1;
		}
		if (this.kind == DatabaseKind.MARIADB) {
			return answer == token;
		}
		// 1 is an inserted row; by the driver's default also a row that was left alone.
		return answer == CHANGED
				|| execute(connection, "SELECT token FROM " + this.table + " WHERE fence_key = ? FOR UPDATE", seconds,
						parameter(key)) == token;
	}

	private long advanceInH2(Connection connection, String key, long token, int seconds) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return execute(connection, this.advance, seconds, parameter(key), token);
			}
			catch (SQLException ex) {
				if (!SqlErrors.isDuplicateKey(ex) || attempt == ATTEMPTS_OF_H2) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Whether what the transaction reads after the fence is not older than the fence. At
	 * SERIALIZABLE each SELECT of MySQL reads the latest rows, and locks them.
	 * @param first whether the fence is the first statement of the transaction
	 */
	boolean supportsIsolation(Connection connection, boolean first) throws SQLException {
		return switch (this.kind) {
			case H2 -> connection.getTransactionIsolation() <= Connection.TRANSACTION_READ_COMMITTED;
			case POSTGRESQL -> true;
			default -> first || connection.getTransactionIsolation() != Connection.TRANSACTION_REPEATABLE_READ;
		};
	}

	/** Returns a key as a parameter. */
	Object parameter(String key) {
		return (this.kind == DatabaseKind.POSTGRESQL) ? key : key.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Executes a statement with a time-out, which does not outlive it: H2 has that of a
	 * statement in the session.
	 * @return how many rows were changed, or the number that a query has read
	 */
	private long execute(Connection connection, String sql, int seconds, Object... parameters) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			int former = statement.getQueryTimeout();
			statement.setQueryTimeout(seconds);
			try {
				for (int index = 0; index < parameters.length; index++) {
					statement.setObject(index + 1, parameters[index]);
				}
				if (!statement.execute()) {
					return statement.getUpdateCount();
				}
				try (ResultSet row = statement.getResultSet()) {
					return row.next() ? row.getLong(1) : 0;
				}
			}
			finally {
				if (this.kind == DatabaseKind.H2) {
					statement.setQueryTimeout(former);
				}
			}
		}
	}

	/** Returns the script that creates the table. */
	String schema() {
		return Sql.script("io/distributedlock/fencing", this.kind.platform(), FenceSettings.DEFAULT_TABLE, this.table);
	}

	/** Fails if the table or a column is missing. */
	void requireTable(Connection connection) throws SQLException {
		Sql.query(connection, "SELECT fence_key, token, changed_at FROM " + this.table + " WHERE 1 = 0",
				(row) -> row.getLong(2));
	}

	/** Returns keys of old fences, in their order. */
	List<String> readOld(Connection connection, String after, int days, int limit) throws SQLException {
		return Sql.query(connection,
				"SELECT fence_key FROM " + this.table + " WHERE fence_key > ? AND " + this.old
						+ " ORDER BY fence_key LIMIT " + limit,
				(row) -> new String(row.getBytes(1), StandardCharsets.UTF_8), parameter(after), days);
	}

	/** Deletes a fence if it is still old once its row is free. */
	int deleteOld(Connection connection, String key, int days) throws SQLException {
		return (int) execute(connection, "DELETE FROM " + this.table + " WHERE fence_key = ? AND " + this.old, 1,
				parameter(key), days);
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

}
