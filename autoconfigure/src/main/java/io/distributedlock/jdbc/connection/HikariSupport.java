package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.DriverDataSource;
import com.zaxxer.hikari.util.PropertyElf;
import com.zaxxer.hikari.util.UtilityElf;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.lookup.JndiDataSourceLookup;

import io.distributedlock.jdbc.connection.SessionDataSource.Initialization;
import io.distributedlock.jdbc.dialect.DriverProperties;

/**
 * Access to Hikari. No other class but the pools loads its types, and those only where it
 * is present.
 */
final class HikariSupport {

	/**
	 * Hikari's property for pools that override {@code getUsername} or
	 * {@code getPassword}.
	 */
	private static final String OVERRIDDEN_CREDENTIALS = "com.zaxxer.hikari.legacy.supportUserPassDataSourceOverride";

	private HikariSupport() {
	}

	static boolean isPool(DataSource dataSource) {
		return dataSource instanceof HikariDataSource;
	}

	/**
	 * Returns the Hikari pool behind a {@code DataSource}, or {@code null} if there is
	 * none.
	 */
	static @Nullable HikariDataSource unwrap(DataSource dataSource) {
		return ConnectionSource.find(dataSource, HikariDataSource.class);
	}

	/**
	 * Returns the settings by which another pool reaches its database, or {@code null} if
	 * it is no Hikari pool. {@link HikariConfig#copyStateTo} would share its properties
	 * with the other pool, and copy credentials that rotate.
	 */
	static @Nullable HikariConfig configuration(DataSource application) {
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
		config.setThreadFactory(pool.getThreadFactory());
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

	/**
	 * Lets a pool open its connections with the session settings of their dialect, after
	 * the initial SQL of the pool.
	 */
	static SessionDataSource openWithSession(HikariConfig config, Duration callTimeout) {
		DataSource physical = physical(config);
		SessionDataSource sessions = new SessionDataSource(physical,
				new Initialization(config.getCatalog(), config.getSchema(), config.getConnectionInitSql()),
				config.getConnectionTestQuery(), callTimeout);
		config.setDataSource(sessions);
		config.setConnectionTestQuery(null);
		config.setDataSourceClassName(null);
		config.setConnectionInitSql(null);
		if (config.getJdbcUrl() == null && physical.getClass().getName().contains("Mysql")) {
			// Hikari recognizes MySQL's driver by the name of the DataSource or by the
			// URL, and calls its setNetworkTimeout without another thread.
			config.setJdbcUrl("jdbc:mysql:");
		}
		return sessions;
	}

	/** Returns what Hikari opens its connections with. */
	private static DataSource physical(HikariConfig config) {
		if (config.getDataSource() != null) {
			return config.getDataSource();
		}
		if (config.getDataSourceClassName() != null) {
			DataSource created = UtilityElf.createInstance(config.getDataSourceClassName(), DataSource.class);
			PropertyElf.setTargetFromProperties(created, config.getDataSourceProperties());
			return created;
		}
		if (config.getJdbcUrl() != null) {
			return driver(config);
		}
		return new JndiDataSourceLookup().getDataSource(config.getDataSourceJNDI());
	}

	private static DataSource driver(HikariConfig config) {
		// A password alone has no effect but here.
		Credentials credentials = presentCredentials(config);
		return new DriverDataSource(config.getJdbcUrl(), config.getDriverClassName(), config.getDataSourceProperties(),
				credentials.getUsername(), credentials.getPassword());
	}

	private static Credentials presentCredentials(HikariConfig config) {
		HikariCredentialsProvider provider = config.getCredentialsProvider();
		return (provider != null) ? provider.getCredentials() : config.getCredentials();
	}

	/** Opens a connection outside a pool, with the pool's settings. */
	static DedicatedConnection openDedicated(HikariDataSource pool) throws SQLException {
		HikariDataSource single = new HikariDataSource(single(pool));
		try {
			Connection connection = single.getConnection();
			return new DedicatedConnection(connection, () -> {
				single.evictConnection(connection);
				single.close();
			});
		}
		catch (SQLException | RuntimeException ex) {
			single.close();
			throw ex;
		}
	}

	private static HikariConfig single(HikariDataSource pool) {
		HikariConfig config = configuration(pool);
		config.setPoolName("distributed-lock-listener");
		config.setAutoCommit(true);
		config.setReadOnly(false);
		// To open a connection may take several time-outs of the locks' own pool.
		config.setConnectionTimeout(2 * (pool.getConnectionTimeout() + pool.getValidationTimeout()));
		config.setValidationTimeout(pool.getValidationTimeout());
		config.setMaximumPoolSize(1);
		config.setMinimumIdle(0);
		config.setIdleTimeout(0);
		config.setKeepaliveTime(0);
		config.setMaxLifetime(0);
		config.setInitializationFailTimeout(-1);
		config.setRegisterMbeans(false);
		config.setLeakDetectionThreshold(0);
		addListenerProperties(config);
		return config;
	}

	/**
	 * Adds the driver's properties of a listener, unless a {@code DataSource} connects.
	 */
	private static void addListenerProperties(HikariConfig config) {
		Map<String, String> properties = DriverProperties.ofListener(config.getJdbcUrl());
		if (properties.isEmpty()) {
			return;
		}
		if (config.getDataSource() instanceof SessionDataSource sessions
				&& sessions.getTargetDataSource() instanceof DriverDataSource) {
			addMissing(config, properties);
			config.setDataSource(sessions.over(driver(config)));
		}
		else if (config.getDataSource() == null && config.getDataSourceClassName() == null
				&& config.getDataSourceJNDI() == null) {
			addMissing(config, properties);
		}
	}

	/** Adds those properties of the driver that the application has not set itself. */
	static void addMissing(HikariConfig config, Map<String, String> properties) {
		properties.forEach((name, value) -> {
			if (config.getDataSourceProperties()
				.keySet()
				.stream()
				.map(String::valueOf)
				.noneMatch(name::equalsIgnoreCase)) {
				config.addDataSourceProperty(name, value);
			}
		});
	}

}
