package io.distributedlock.jdbc.dialect;

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
 * Kind of a database that keeps locks, row locks and fences, by what its server says of
 * itself: whether it can be used, and how its scripts are called.
 *
 * @since 0.1.0
 */
public enum DatabaseKind {

	/** H2 in any of its modes. */
	H2,
	/** PostgreSQL. */
	POSTGRESQL,
	/** MariaDB, through its own driver or that of MySQL. */
	MARIADB,
	/** MySQL, through its own driver or that of MariaDB. */
	MYSQL,
	/** HSQLDB. */
	HSQLDB,
	/** Apache Derby. */
	DERBY,
	/** Oracle, on which the statements were never run. */
	ORACLE,
	/** SQL Server, on which the statements were never run. */
	SQLSERVER,
	/** Db2, on which the statements were never run. */
	DB2;

	/** The name of a database that does not tell its own. */
	public static final String UNKNOWN = "unknown";

	/** MariaDB puts the version of a MySQL before its own, for old clients. */
	private static final Pattern VERSION = Pattern.compile("(?:5\\.5\\.5-)?(\\d+)\\.(\\d+).*");

	/** The databases whose names others use too, so that their servers are asked. */
	private static final Set<String> IMITATED = Set.of("PostgreSQL", "MySQL", "MariaDB");

	private static final Set<String> PRODUCTS = Set.of("H2", "HSQL Database Engine", "Apache Derby", "Oracle",
			"Microsoft SQL Server");

	/**
	 * The server's answer, also where a proxy such as ProxySQL announces a version of its
	 * own, or answers {@code SELECT VERSION()} itself.
	 */
	private static final String VERSION_OF_SERVER = "SELECT CONCAT(VERSION(), '')";

	/**
	 * Returns the kind of a database. Asks servers that others imitate for their version.
	 * @param connection a connection to the database
	 * @return the kind
	 * @throws LockConfigurationException if the server is too old, or only speaks the
	 * protocol of a supported one
	 * @throws SQLException if the database could not answer
	 */
	public static DatabaseKind of(Connection connection) throws SQLException {
		String product = requireProduct(connection);
		String announced = String.valueOf(connection.getMetaData().getDatabaseProductVersion());
		switch (product) {
			case "H2" -> {
				require("H2", announced, 2, 2);
				return H2;
			}
			case "PostgreSQL" -> {
				require("PostgreSQL", announced, 10, 0);
				requirePostgres(ask(connection, "SELECT version()"));
				return POSTGRESQL;
			}
			case "HSQL Database Engine" -> {
				return HSQLDB.from(connection, product, 2, 7);
			}
			case "Apache Derby" -> {
				return DERBY.from(connection, product, 10, 15);
			}
			case "Oracle" -> {
				return ORACLE.from(connection, product, 19, 0);
			}
			case "Microsoft SQL Server" -> {
				return SQLSERVER.from(connection, product, 13, 0);
			}
			case "DB2" -> {
				return DB2.from(connection, product, 11, 5);
			}
			default -> {
				String version = ask(connection, VERSION_OF_SERVER);
				// MySQL's driver names every server MySQL.
				if (version.contains("MariaDB")) {
					require("MariaDB", version, 10, 6);
					return MARIADB;
				}
				requireMySql(version);
				requireMySql(announced);
				require("MySQL", version, 8, 0);
				return MYSQL;
			}
		}
	}

	/** Returns the dialect of this kind for a lock table. */
	public Dialect dialect(String table) {
		return switch (this) {
			case H2 -> new H2Dialect(table);
			case POSTGRESQL -> new PostgresDialect(table);
			case MARIADB -> new MariaDbDialect(table);
			case MYSQL -> new MySqlDialect(table);
			case HSQLDB, DERBY, ORACLE, SQLSERVER, DB2 ->
				new PortableDialect(PortableDialect.Database.valueOf(name()), table);
		};
	}

	/**
	 * Whether the schema script fails if the table exists, for lack of a condition.
	 * @return whether errors of the script are to be passed over
	 */
	public boolean isScriptUnconditional() {
		return compareTo(HSQLDB) >= 0;
	}

	private DatabaseKind from(Connection connection, String product, int major, int minor) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		require(product, database.getDatabaseMajorVersion() + "." + database.getDatabaseMinorVersion(), major, minor);
		return this;
	}

	/**
	 * Returns the name of the database by its driver, without a statement.
	 * @param connection a connection, or {@code null} if a {@code DataSource} returns
	 * none
	 * @throws LockConfigurationException if no kind has the name
	 */
	public static String requireProduct(@Nullable Connection connection) throws SQLException {
		DatabaseMetaData database = (connection != null) ? connection.getMetaData() : null;
		String product = (database != null) ? String.valueOf(database.getDatabaseProductName()) : UNKNOWN;
		if (product.startsWith("DB2/")) {
			// Followed by the operating system
			return "DB2";
		}
		if (!PRODUCTS.contains(product) && !IMITATED.contains(product)) {
			throw unsupported(product);
		}
		return product;
	}

	/**
	 * Whether a server with the name is asked what it is.
	 * @param product the name of the database by its driver
	 * @return whether its kind takes a statement
	 */
	public static boolean isAsked(String product) {
		return IMITATED.contains(product);
	}

	private static String ask(Connection connection, String query) throws SQLException {
		return String.valueOf(Sql.query(connection, query, (row) -> row.getString(1)).get(0));
	}

	/**
	 * Returns the name of the database's scripts.
	 * @return the name
	 */
	public String platform() {
		return name().toLowerCase(Locale.ROOT);
	}

	/** Refuses a server that only speaks the protocol of PostgreSQL. */
	private static void requirePostgres(String version) {
		String name = version.toLowerCase(Locale.ROOT);
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
					"The database is " + product + " " + version + ", but locks and fences need " + product + " "
							+ major + "." + minor + " or later",
					"Upgrade the server, or keep the locks in another store by distributed-lock.provider");
		}
	}

	/**
	 * Returns the refusal of a database.
	 * @param product the name of the database
	 * @return the refusal
	 */
	public static LockConfigurationException unsupported(String product) {
		return new LockConfigurationException(LockError.NO_PROVIDER, "The database '" + product + "' is not supported",
				"Use PostgreSQL, MySQL, MariaDB, H2, HSQLDB or Derby, or name another store in "
						+ "distributed-lock.provider");
	}

}
