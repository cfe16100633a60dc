package io.distributedlock.jdbc;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import org.jspecify.annotations.Nullable;

/** All that touches Hikari, so that the rest works without it. */
final class HikariPools {

	private static final List<String> MARIADB = List.of("jdbc:mariadb:", "jdbc:mysql:", "org.mariadb.", "com.mysql.");

	private HikariPools() {
	}

	static @Nullable HikariConfig configuration(DataSource application) throws SQLException {
		if (!application.isWrapperFor(HikariDataSource.class)) {
			return null;
		}
		HikariConfig config = new HikariConfig();
		application.unwrap(HikariDataSource.class).copyStateTo(config);
		return config;
	}

	static HikariDataSource create(HikariConfig config, int size, Duration callTimeout) {
		long timeout = Math.max(250, callTimeout.toMillis() / 2);
		config.setPoolName("distributed-lock");
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(1);
		config.setIdleTimeout(60_000);
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		config.setConnectionTimeout(timeout);
		config.setValidationTimeout(timeout);
		config.setInitializationFailTimeout(-1);
		config.setRegisterMbeans(false);
		config.setLeakDetectionThreshold(0);
		config.setConnectionInitSql(initSql(config, callTimeout));
		boundReads(config, callTimeout);
		return new HikariDataSource(config);
	}

	/** A pool of one connection that stays open, made like those of another pool. */
	static HikariDataSource single(HikariDataSource pool) {
		HikariConfig config = new HikariConfig();
		pool.copyStateTo(config);
		config.setPoolName("distributed-lock-listener");
		config.setAutoCommit(true);
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
	 * A remote H2 whose answer is lost would keep its thread and connection for ever:
	 * there nothing ends a read from outside. MariaDB's driver aborts over a new
	 * connection, and would wait for that as long as an application may want to.
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

	private static void bound(HikariConfig config, String url, String property, long millis) {
		if (!url.contains(property.toUpperCase(Locale.ROOT))) {
			config.addDataSourceProperty(property, Long.toString(millis));
		}
	}

	/** Bounds, in the server, the moment at which a command can still take effect. */
	private static @Nullable String initSql(HikariConfig config, Duration callTimeout) {
		String known = config.getJdbcUrl() + ' ' + config.getDriverClassName() + ' ' + config.getDataSourceClassName()
				+ ' ' + config.getDataSource();
		long statement = Math.max(callTimeout.toMillis(), 1);
		long lock = Math.max(statement / 2, 1);
		String ours = null;
		if (known.contains("postgresql")) {
			ours = """
					SET statement_timeout = %d; SET lock_timeout = %d; SELECT set_config(name, '%d', false) \
					FROM pg_settings WHERE name = 'client_connection_check_interval' AND version() LIKE '%%linux%%'"""
				.formatted(statement, lock, statement);
		}
		else if (isMariaDb(known)) {
			// InnoDB counts whole seconds; what is shorter bounds the statement. Only
			// MariaDB
			// reads the part in the comment.
			ours = "SET /*M! max_statement_time = %s, */ innodb_lock_wait_timeout = %d, time_zone = '+00:00'"
				.formatted(BigDecimal.valueOf(lock, 3).toPlainString(), Math.max(lock / 1000, 1));
		}
		else if (known.contains("h2")) {
			ours = "SET LOCK_TIMEOUT %d; SET QUERY_TIMEOUT %d".formatted(lock, statement);
		}
		String theirs = config.getConnectionInitSql();
		if (theirs == null || ours == null) {
			return (theirs == null) ? ours : theirs;
		}
		return isMariaDb(known) ? "BEGIN NOT ATOMIC " + theirs.replaceAll("[;\\s]+$", "") + "; " + ours + "; END"
				: theirs + "; " + ours;
	}

	private static boolean isMariaDb(String known) {
		return MARIADB.stream().anyMatch(known::contains);
	}

	static boolean hasIdleConnection(HikariDataSource pool) {
		HikariPoolMXBean state = pool.getHikariPoolMXBean();
		return state != null && state.getIdleConnections() > 0;
	}

	static int size(DataSource pool) {
		return ((HikariDataSource) pool).getMaximumPoolSize();
	}

	/** A connection is waited for, and may then be found dead, and so on until here. */
	static Duration longestBorrow(DataSource pool) {
		return Duration.ofMillis(((HikariDataSource) pool).getConnectionTimeout());
	}

	static @Nullable HikariDataSource unwrap(DataSource dataSource) throws SQLException {
		return dataSource.isWrapperFor(HikariDataSource.class) ? dataSource.unwrap(HikariDataSource.class) : null;
	}

	static boolean evict(HikariDataSource pool, Connection connection) {
		if (!(connection instanceof com.zaxxer.hikari.pool.ProxyConnection)) {
			return false;
		}
		pool.evictConnection(connection);
		return true;
	}

}
