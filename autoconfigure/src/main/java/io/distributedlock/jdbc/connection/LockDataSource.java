package io.distributedlock.jdbc.connection;

import java.time.Duration;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Source of connections for locks: a small pool of their own, so that held locks can be
 * renewed and released while the application holds every connection of its pool; or a
 * {@code DataSource} that the application gives.
 * <p>
 * Connections are in autocommit mode at READ COMMITTED, and never bound to the caller's
 * transaction. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockDataSource implements AutoCloseable {

	/** The default for the largest number of connections. */
	public static final int DEFAULT_SIZE = 8;

	private static final Log logger = LogFactory.getLog(LockDataSource.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			LockDataSource.class.getClassLoader());

	private final ConnectionSource connections;

	private LockDataSource(ConnectionSource connections) {
		this.connections = connections;
	}

	/**
	 * Creates a pool of its own with the settings of the application's
	 * {@code DataSource}. Where it does not reveal them, shares the application's pool
	 * and logs a warning.
	 * @param application the application's {@code DataSource}
	 * @param size the largest number of connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @return the source of connections
	 * @throws LockConfigurationException if the {@code DataSource} chooses a database for
	 * each thread and has no default
	 */
	public static LockDataSource derive(DataSource application, int size, Duration callTimeout) {
		return create(application, size, callTimeout, null);
	}

	/**
	 * Creates a pool of its own as {@link #derive(DataSource, int, Duration)} does, with
	 * further settings.
	 * @param application the application's {@code DataSource}
	 * @param size the largest number of connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @param customizer changes the settings of the pool before it is created; not called
	 * where the application's pool is shared
	 * @return the source of connections
	 * @throws LockConfigurationException if the customizer changed a setting that locks
	 * need, or the {@code DataSource} chooses a database for each thread and has no
	 * default
	 */
	public static LockDataSource derive(DataSource application, int size, Duration callTimeout,
			Consumer<HikariConfig> customizer) {
		return create(application, size, callTimeout, customizer);
	}

	private static LockDataSource create(DataSource application, int size, Duration callTimeout,
			@Nullable Consumer<HikariConfig> customizer) {
		DataSource target = unwrap(application);
		HikariConfig config = HIKARI ? HikariSupport.configuration(target) : null;
		if (config != null) {
			return new LockDataSource(OwnPool.create(config, size, callTimeout, customizer));
		}
		LockDataSource shared = of(target, size);
		logger.warn("Locks share the application's connection pool, because settings for a pool of their own cannot "
				+ "be read from " + target.getClass().getName()
				+ ". While locked methods hold all its connections, no lock can be acquired, renewed or "
				+ "released. Define a DataSource bean qualified with @DistributedLockDataSource, or accept it by "
				+ "distributed-lock.jdbc.pool.type=application");
		return shared;
	}

	/**
	 * Creates a pool of its own for a database.
	 * @param url the JDBC URL
	 * @param username the user, if any
	 * @param password the password, if any
	 * @param driverClassName the driver's class, or {@code null} to find it by the URL
	 * @param size the largest number of connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @return the source of connections
	 */
	public static LockDataSource connect(String url, @Nullable String username, @Nullable String password,
			@Nullable String driverClassName, int size, Duration callTimeout) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setUsername(username);
		config.setPassword(password);
		if (driverClassName != null) {
			config.setDriverClassName(driverClassName);
		}
		return new LockDataSource(OwnPool.create(config, size, callTimeout, null));
	}

	/**
	 * Uses a given {@code DataSource} as it is, and never closes it. Statements have no
	 * time-outs in the server, unless the {@code DataSource} sets them.
	 * @param dataSource the source of connections
	 * @param size the largest number of connections in use at a time
	 * @return the source of connections
	 * @throws LockConfigurationException if the {@code DataSource} chooses a database for
	 * each thread and has no default
	 */
	public static LockDataSource of(DataSource dataSource, int size) {
		DataSource target = unwrap(dataSource);
		ConnectionSource hikari = HIKARI ? ApplicationHikariPool.find(target, size) : null;
		return new LockDataSource((hikari != null) ? hikari : new ApplicationDataSource(target, size));
	}

	/**
	 * Returns the {@code DataSource} whose connections suit locks: without proxies that
	 * return the connection of the caller's transaction, and the default of one that
	 * chooses a database for each thread, because calls of one lock run on several
	 * threads. Other wrappers are kept if they stand inside these, because they may give
	 * credentials or prepare connections.
	 * @param dataSource the application's {@code DataSource}
	 * @return the {@code DataSource} for locks
	 * @throws LockConfigurationException if the {@code DataSource} chooses a database for
	 * each thread and has no default
	 */
	public static DataSource unwrap(DataSource dataSource) {
		DataSource independent = dataSource;
		DataSource target = dataSource;
		while (true) {
			AbstractRoutingDataSource routing = routing(target);
			DataSource next = (routing != null) ? defaultOf(routing) : delegate(target);
			if (next == null) {
				return independent;
			}
			boolean addsNothing = target.getClass() == DelegatingDataSource.class && independent == target;
			if (routing != null || returnsConnectionOfTransaction(target) || addsNothing) {
				independent = next;
			}
			target = next;
		}
	}

	private static boolean returnsConnectionOfTransaction(DataSource dataSource) {
		return dataSource instanceof TransactionAwareDataSourceProxy
				|| dataSource instanceof LazyConnectionDataSourceProxy;
	}

	private static @Nullable DataSource delegate(DataSource dataSource) {
		return (dataSource instanceof DelegatingDataSource delegating) ? delegating.getTargetDataSource() : null;
	}

	/** Also finds it behind proxies such as those of p6spy. */
	private static @Nullable AbstractRoutingDataSource routing(DataSource dataSource) {
		boolean hidesNone = dataSource instanceof DelegatingDataSource || (HIKARI && HikariSupport.isPool(dataSource));
		return hidesNone ? null : ConnectionSource.find(dataSource, AbstractRoutingDataSource.class);
	}

	private static DataSource defaultOf(AbstractRoutingDataSource routing) {
		DataSource target = routing.getResolvedDefaultDataSource();
		if (target == null) {
			throw new LockConfigurationException(LockError.SEVERAL_PROVIDERS,
					"The DataSource " + routing.getClass().getName() + " chooses a database for each thread and has no "
							+ "default, so that the database of the locks is not clear",
					"Give it a default database, or qualify one of its databases with @DistributedLockDataSource");
		}
		return target;
	}

	public ConnectionSource connections() {
		return this.connections;
	}

	/** Closes the pool if it was created here. */
	@Override
	public void close() {
		this.connections.close();
	}

}
