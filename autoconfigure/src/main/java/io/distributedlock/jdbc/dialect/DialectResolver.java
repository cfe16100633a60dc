package io.distributedlock.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;

/** Resolver of the dialect of a database. */
public final class DialectResolver {

	private DialectResolver() {
	}

	public static Dialect resolve(Connection connection, String table) throws SQLException {
		return switch (DatabaseKind.of(connection)) {
			case H2 -> new H2Dialect(table);
			case POSTGRESQL -> new PostgresDialect(table);
			case MARIADB -> new MariaDbDialect(table);
			case MYSQL -> new MySqlDialect(table);
		};
	}

}
