package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/** Knows which statements a database takes. */
final class Dialects {

	private Dialects() {
	}

	static Dialect find(Connection connection, String table) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = database.getDatabaseProductName();
		return switch (product) {
			case "H2" -> new H2Dialect(table);
			case "PostgreSQL" -> new PostgresDialect(table);
			case "MariaDB" -> new MariaDbDialect(table);
			default -> {
				// MySQL's driver takes every server for MySQL.
				if (!database.getDatabaseProductVersion().contains("MariaDB")) {
					throw new LockConfigurationException(LockError.NO_PROVIDER,
							"Locks cannot be kept in a database of the kind '" + product + "'",
							"Use PostgreSQL, MariaDB or H2, or name another store in distributed-lock.provider");
				}
				yield new MariaDbDialect(table);
			}
		};
	}

}
