package io.distributedlock.jdbc;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.DriverDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Access to Hikari. No other class loads its types unless it is present.
 */
final class HikariSupport {

	private static final boolean POSTGRESQL = ClassUtils.isPresent("org.postgresql.PGConnection",
			HikariSupport.class.getClassLoader());

	private static final List<String> MARIADB = List.of("jdbc:mariadb:", "jdbc:mysql:", "org.mariadb.", "com.mysql.");

	/**
	 * Hikari's property for pools that override {@code getUsername} or
	 * {@code getPassword}.
	 */
	private static final String OVERRIDDEN_CREDENTIALS = "com.zaxxer.hikari.legacy.supportUserPassDataSourceOverride";

	private HikariSupport() {
	}

	/**
	 * Returns the settings by which another pool reaches its database, or {@code null} if
	 * it is no Hikari pool. {@link HikariConfig#copyStateTo} would share its properties
	 * with the other pool, and copy credentials that rotate.
	 */
	static @Nullable HikariConfig configuration(DataSource application) throws SQLException {
		HikariDataSource pool = unwrap(application);
		return (pool != null) ? configuration(pool) : null;
	}

	private static HikariConfig configuration(HikariDataSource pool) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(pool.getJdbcUrl());
		if (pool.getDriverClassName() != null) {
			config.setDriverClassName(pool.getDriverClassName());
		}
		config.setDataSource(pool.getDataSource());
		config.setDataSourceClassName(pool.getDataSourceClassName());
		config.setDataSourceJNDI(pool.getDataSourceJNDI());
		config.setDataSourceProperties(pool.getDataSourceProperties());
		config.setCredentialsProvider(() -> credentials(pool));
		config.setCatalog(pool.getCatalog());
		config.setSchema(pool.getSchema());
		config.setConnectionTestQuery(pool.getConnectionTestQuery());
		config.setConnectionInitSql(pool.getConnectionInitSql());
		config.setExceptionOverride(pool.getExceptionOverride());
		config.setKeepaliveTime(pool.getKeepaliveTime());
		config.setMaxLifetime(pool.getMaxLifetime());
		return config;
	}

	/**
	 * Returns the credentials by which a pool opens its next connection: they may be
	 * changed while it runs, or be a token that expires.
	 */
	private static Credentials credentials(HikariDataSource pool) {
		HikariCredentialsProvider provider = pool.getCredentialsProvider();
		if (provider != null) {
			return provider.getCredentials();
		}
		return Boolean.getBoolean(OVERRIDDEN_CREDENTIALS) ? Credentials.of(pool.getUsername(), pool.getPassword())
				: pool.getCredentials();
	}

	static HikariDataSource create(HikariConfig config, int size, Duration callTimeout) {
		long timeoutMillis = Math.max(250, callTimeout.toMillis() / 2);
		config.setPoolName("distributed-lock");
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(1);
		config.setIdleTimeout(60_000);
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		config.setConnectionTimeout(timeoutMillis);
		config.setValidationTimeout(timeoutMillis);
		config.setInitializationFailTimeout(-1);
		config.setRegisterMbeans(false);
		config.setLeakDetectionThreshold(0);
		config.setConnectionInitSql(initSql(config, callTimeout));
		boundReads(config, callTimeout);
		preparePostgres(config, callTimeout);
		return new HikariDataSource(config);
	}

	/** Creates a pool of one connection, with the settings of another pool. */
	static HikariDataSource single(HikariDataSource pool) {
		HikariConfig config = configuration(pool);
		config.setPoolName("distributed-lock-listener");
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		config.setConnectionTimeout(pool.getConnectionTimeout());
		config.setValidationTimeout(pool.getValidationTimeout());
		config.setMaximumPoolSize(1);
		config.setMinimumIdle(0);
		config.setIdleTimeout(0);
		config.setKeepaliveTime(0);
		config.setMaxLifetime(0);
		config.setInitializationFailTimeout(-1);
		config.setRegisterMbeans(false);
		config.setLeakDetectionThreshold(0);
		return new HikariDataSource(config);
	}

	/**
	 * Bounds reads where an abort cannot end them. A read from a remote H2 would
	 * otherwise keep its thread and connection for ever. MariaDB's driver aborts over a
	 * new connection, which it would otherwise wait for as long as the application
	 * allows.
	 */
	private static void boundReads(HikariConfig config, Duration callTimeout) {
		String url = (config.getJdbcUrl() != null) ? config.getJdbcUrl().toUpperCase(Locale.ROOT) : "";
		if (url.startsWith("JDBC:H2:TCP:") || url.startsWith("JDBC:H2:SSL:")) {
			bound(config, url, "NETWORK_TIMEOUT", Math.max(callTimeout.toMillis(), 1));
		}
		else if (url.startsWith("JDBC:MARIADB:") || url.startsWith("JDBC:MYSQL:")) {
			bound(config, url, "connectTimeout", Math.max(callTimeout.toMillis() / 4, 100));
		}
	}

	/**
	 * Prepares each connection to PostgreSQL by its session, which a pooler can share.
	 */
	private static void preparePostgres(HikariConfig config, Duration callTimeout) {
		DataSource target = config.getDataSource();
		if (!POSTGRESQL || !isPostgres(description(config))) {
			return;
		}
		if (target == null && config.getJdbcUrl() != null) {
			target = new DriverDataSource(config.getJdbcUrl(), config.getDriverClassName(),
					config.getDataSourceProperties(), config.getUsername(), config.getPassword());
		}
		if (target != null) {
			config.setDataSource(new PostgresSessionDataSource(target, config.getConnectionInitSql(), callTimeout));
			config.setConnectionInitSql(null);
		}
	}

	private static void bound(HikariConfig config, String url, String property, long millis) {
		if (!url.contains(property.toUpperCase(Locale.ROOT))) {
			config.addDataSourceProperty(property, Long.toString(millis));
		}
	}

	/** Returns the SQL by which the server bounds how late a command can take effect. */
	private static @Nullable String initSql(HikariConfig config, Duration callTimeout) {
		String description = description(config);
		long statementMillis = Math.max(callTimeout.toMillis(), 1);
		long lockMillis = Math.max(statementMillis / 2, 1);
		String locks = null;
		if (isMariaDb(description)) {
			// InnoDB counts whole seconds, so the bound of the statement covers shorter
			// times. Only MariaDB reads the part in the comment.
			locks = "SET /*M! max_statement_time = %s, */ innodb_lock_wait_timeout = %d, time_zone = '+00:00'"
				.formatted(BigDecimal.valueOf(lockMillis, 3).toPlainString(), Math.max(lockMillis / 1000, 1));
		}
		else if (!isPostgres(description) && description.contains("h2")) {
			locks = "SET LOCK_TIMEOUT %d; SET QUERY_TIMEOUT %d".formatted(lockMillis, statementMillis);
		}
		String application = config.getConnectionInitSql();
		if (application == null || locks == null) {
			return (application == null) ? locks : application;
		}
		return isMariaDb(description)
				? "BEGIN NOT ATOMIC " + application.replaceAll("[;\\s]+$", "") + "; " + locks + "; END"
				: application + "; " + locks;
	}

	private static String description(HikariConfig config) {
		return config.getJdbcUrl() + ' ' + config.getDriverClassName() + ' ' + config.getDataSourceClassName() + ' '
				+ config.getDataSource();
	}

	private static boolean isPostgres(String description) {
		return description.contains("postgresql");
	}

	private static boolean isMariaDb(String description) {
		return MARIADB.stream().anyMatch(description::contains);
	}

	static boolean hasIdleConnection(HikariDataSource pool) {
		HikariPoolMXBean state = pool.getHikariPoolMXBean();
		return state != null && state.getIdleConnections() > 0;
	}

	static int size(DataSource pool) {
		return ((HikariDataSource) pool).getMaximumPoolSize();
	}

	/** Returns how long the pool waits for a connection, including its validation. */
	static Duration maxBorrowTime(DataSource pool) {
		return Duration.ofMillis(((HikariDataSource) pool).getConnectionTimeout());
	}

	static @Nullable HikariDataSource unwrap(DataSource dataSource) throws SQLException {
		return dataSource.isWrapperFor(HikariDataSource.class) ? dataSource.unwrap(HikariDataSource.class) : null;
	}

	/** Replaces the connections of a pool, once they are idle. */
	static void replaceConnections(HikariDataSource pool) {
		HikariPoolMXBean state = pool.getHikariPoolMXBean();
		if (state != null) {
			state.softEvictConnections();
		}
	}

	static boolean evict(HikariDataSource pool, Connection connection) {
		if (!(connection instanceof com.zaxxer.hikari.pool.ProxyConnection)) {
			return false;
		}
		pool.evictConnection(connection);
		return true;
	}

}
