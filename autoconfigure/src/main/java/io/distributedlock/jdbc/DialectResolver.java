package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Resolver of the dialect by what the server says of itself. It refuses servers that are
 * too old, and those that only speak the protocol of a supported one.
 */
final class DialectResolver {

	/** MariaDB puts the version of a MySQL before its own, for old clients. */
	private static final Pattern VERSION = Pattern.compile("(?:5\\.5\\.5-)?(\\d+)\\.(\\d+).*");

	/** Proxies of these, such as ProxySQL, announce a version of their own. */
	private static final Set<String> PROXIED = Set.of("MySQL", "MariaDB");

	/**
	 * The server's answer, also where a proxy answers {@code SELECT VERSION()} itself.
	 */
	private static final String VERSION_OF_SERVER = "SELECT CONCAT(VERSION(), '')";

	private DialectResolver() {
	}

	static Dialect resolve(Connection connection, String table) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = database.getDatabaseProductName();
		String version = PROXIED.contains(product)
				? Sql.query(connection, VERSION_OF_SERVER, (row) -> row.getString(1)).get(0)
				: String.valueOf(database.getDatabaseProductVersion());
		// MySQL's driver names every server MySQL.
		return switch (version.contains("MariaDB") ? "MariaDB" : product) {
			case "H2" -> {
				require("H2", version, 2, 2);
				yield new H2Dialect(table);
			}
			case "PostgreSQL" -> {
				require("PostgreSQL", version, 10, 0);
				yield new PostgresDialect(table);
			}
			case "MariaDB" -> {
				require("MariaDB", version, 10, 6);
				yield new MariaDbDialect(table);
			}
			case "MySQL" -> {
				requireMySql(version);
				requireMySql(String.valueOf(database.getDatabaseProductVersion()));
				require("MySQL", version, 8, 0);
				yield new MySqlDialect(table);
			}
			default -> throw unsupported(product);
		};
	}

	/**
	 * Refuses a server that only speaks the protocol of PostgreSQL.
	 * @param version what the server calls its version, or {@code null} if it was not
	 * asked
	 */
	static void requirePostgres(@Nullable String version) {
		String name = (version != null) ? version.toLowerCase(Locale.ROOT) : "postgresql";
		if (name.contains("cockroachdb")) {
			throw unsupported("CockroachDB");
		}
		if (name.contains("-yb-") || name.contains("yugabyte")) {
			throw unsupported("YugabyteDB");
		}
		if (!name.startsWith("postgresql")) {
			throw unsupported(version);
		}
	}

	/** Refuses a server that only speaks the protocol of MySQL, and names itself. */
	private static void requireMySql(String version) {
		for (String other : List.of("TiDB", "Vitess", "OceanBase", "SingleStore")) {
			if (version.contains(other)) {
				throw unsupported(other);
			}
		}
	}

	private static void require(String product, String version, int major, int minor) {
		Matcher numbers = VERSION.matcher(version);
		if (!numbers.matches()) {
			return;
		}
		int foundMajor = Integer.parseInt(numbers.group(1));
		if (foundMajor < major || (foundMajor == major && Integer.parseInt(numbers.group(2)) < minor)) {
			throw new LockConfigurationException(LockError.STORE_TOO_OLD,
					"The database is " + product + " " + version + ", but locks need " + product + " " + major + "."
							+ minor + " or later",
					"Upgrade the server, or keep the locks in another store by distributed-lock.provider");
		}
	}

	private static LockConfigurationException unsupported(@Nullable String product) {
		return new LockConfigurationException(LockError.NO_PROVIDER,
				"The database '" + product + "' is not supported as a lock store",
				"Use PostgreSQL, MySQL, MariaDB or H2, or name another store in distributed-lock.provider");
	}

}
