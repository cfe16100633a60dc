package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.dialect.DatabaseKind;

/**
 * The dialect of each database, by what its server says of itself. Safe for use by many
 * threads.
 */
final class FenceDialects {

	private final String table;

	/**
	 * Dialects by the URL of connections, because a {@code DataSource} can choose among
	 * databases. Forgets those that the application has given up.
	 */
	private final Map<DataSource, Map<String, FenceDialect>> known = Collections.synchronizedMap(new WeakHashMap<>());

	FenceDialects(String table) {
		this.table = table;
	}

	FenceDialect of(DataSource dataSource, Connection connection) throws SQLException {
		Map<String, FenceDialect> dialects = this.known.computeIfAbsent(dataSource, (key) -> new ConcurrentHashMap<>());
		String url = String.valueOf(connection.getMetaData().getURL());
		FenceDialect dialect = dialects.get(url);
		if (dialect == null) {
			dialect = resolve(connection, this.table);
			dialects.put(url, dialect);
		}
		return dialect;
	}

	static FenceDialect resolve(Connection connection, String table) throws SQLException {
		return switch (kind(connection)) {
			case H2 -> new H2FenceDialect(table);
			case POSTGRESQL -> new PostgresFenceDialect(table);
			case MARIADB -> new MySqlFenceDialect("mariadb", table);
			case MYSQL -> new MySqlFenceDialect("mysql", table);
		};
	}

	private static DatabaseKind kind(Connection connection) throws SQLException {
		try {
			return DatabaseKind.of(connection);
		}
		catch (LockConfigurationException ex) {
			throw new LockConfigurationException(LockError.FENCE_UNSUPPORTED,
					ex.problem() + ", so that its transactions cannot be fenced",
					"Set distributed-lock.fencing.enabled=false, and compare the fencing token in the statements that"
							+ " write; only PostgreSQL, MySQL, MariaDB and H2 are supported",
					ex);
		}
	}

}
