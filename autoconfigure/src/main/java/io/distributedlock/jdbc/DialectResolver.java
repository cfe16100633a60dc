package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/** Resolver of the dialect by the product name that the driver reports. */
final class DialectResolver {

	private DialectResolver() {
	}

	static Dialect resolve(Connection connection, String table) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = database.getDatabaseProductName();
		return switch (product) {
			case "H2" -> new H2Dialect(table);
			case "PostgreSQL" -> new PostgresDialect(table);
			case "MariaDB" -> new MariaDbDialect(table);
			default -> {
				// MySQL's driver names every server MySQL.
				if (!database.getDatabaseProductVersion().contains("MariaDB")) {
					throw new LockConfigurationException(LockError.NO_PROVIDER,
							"The database '" + product + "' is not supported as a lock store",
							"Use PostgreSQL, MariaDB or H2, or name another store in distributed-lock.provider");
				}
				yield new MariaDbDialect(table);
			}
		};
	}

}
