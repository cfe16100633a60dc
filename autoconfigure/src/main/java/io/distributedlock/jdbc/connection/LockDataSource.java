package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.sql.Wrapper;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.Deadline;

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
public abstract class LockDataSource implements AutoCloseable {

	/** The default for the largest number of connections. */
	public static final int DEFAULT_SIZE = 8;

	private static final Log logger = LogFactory.getLog(LockDataSource.class);

	static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			LockDataSource.class.getClassLoader());

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
		return derive(application, size, callTimeout, null);
	}

	/**
	 * Creates a pool of its own as {@link #derive(DataSource, int, Duration)} does, with
	 * further settings.
	 * @param application the application's {@code DataSource}
	 * @param size the largest number of connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @param customizer changes the settings of the pool before it is created, if any;
	 * not called where the application's pool is shared
	 * @return the source of connections
	 * @throws LockConfigurationException if the customizer changed a setting that locks
	 * need, or the {@code DataSource} chooses a database for each thread and has no
	 * default
	 */
	public static LockDataSource derive(DataSource application, int size, Duration callTimeout,
			@Nullable Consumer<HikariConfig> customizer) {
		DataSource target = unwrap(application);
		HikariConfig config = HIKARI ? HikariSupport.configuration(target) : null;
		if (config != null) {
			return OwnPool.create(config, size, callTimeout, customizer);
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
		return OwnPool.create(config, size, callTimeout, null);
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
		return new ApplicationDataSource(unwrap(dataSource), size);
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
		boolean hidesNone = dataSource instanceof DelegatingDataSource
				|| (HIKARI && dataSource instanceof HikariDataSource);
		return hidesNone ? null : find(dataSource, AbstractRoutingDataSource.class);
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

	/** Whether nothing else uses these connections. */
	public boolean isOwn() {
		return true;
	}

	/** Returns the largest number of connections in use at a time. */
	public abstract int size();

	/** Returns what the number of connections depends on, for messages. */
	public String sizedBy() {
		return "distributed-lock.jdbc.pool.size, or the size of the pool if that is smaller";
	}

	/**
	 * Whether there probably is a connection at once, and {@link #borrow} ends before the
	 * deadline even if that one turns out to be dead.
	 */
	public boolean canBorrowBefore(Deadline deadline) {
		return false;
	}

	/**
	 * Borrows a connection with the settings of the pool.
	 * @param deadline when to give up, where the pool can be asked again until then
	 * @throws LockProviderException if the pool has no connection
	 * @throws LockConfigurationException if the database is not supported
	 */
	public abstract Connection borrow(Deadline deadline);

	/** Translates the failure of a pool that has lent no connection. */
	static LockException noConnection(SQLException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException refusal) {
				return refusal;
			}
		}
		LockError error = SqlErrors.classify(ex);
		if (error == LockError.STORE_FAILED && isPoolTimeout(ex)) {
			error = LockError.STORE_TIMEOUT;
		}
		return LockProviderException.nothingSent(error, SqlErrors.PROVIDER, "has no connection: " + ex.getMessage(),
				ex);
	}

	/** Whether a pool had no connection in time. Its cause may say why. */
	static boolean isPoolTimeout(SQLException ex) {
		String message = String.valueOf(ex.getMessage()).toLowerCase(Locale.ROOT);
		return ex instanceof SQLTimeoutException
				|| (ex instanceof SQLTransientConnectionException && message.contains("timed out"))
				|| message.contains("timeout waiting for idle object");
	}

	/**
	 * Opens a connection outside the pool, or borrows one of a pool other than Hikari.
	 */
	public abstract DedicatedConnection openDedicated() throws SQLException;

	/**
	 * Runs a call with the settings that locks need.
	 * @param readMillis the bound of each read from the connection
	 */
	public <T extends @Nullable Object> T run(Connection connection, Dialect dialect, int readMillis, SqlCall<T> call)
			throws SQLException {
		dialect.limitReads(connection, readMillis);
		return call.run(connection, dialect);
	}

	/** Returns a connection to the pool. */
	public void close(Connection connection) {
		JdbcUtils.closeConnection(connection);
	}

	/**
	 * Ends a statement under way, and removes its connection from the pool. Any thread
	 * may call it.
	 */
	public abstract void abort(Connection connection);

	/** Closes a connection and removes it from the pool. Any thread may call it. */
	public abstract void discard(Connection connection);

	/** Returns the object of a type behind proxies, or {@code null} if there is none. */
	static <T> @Nullable T find(Wrapper proxy, Class<T> type) {
		if (type.isInstance(proxy)) {
			return type.cast(proxy);
		}
		try {
			return proxy.isWrapperFor(type) ? proxy.unwrap(type) : null;
		}
		catch (SQLException ex) {
			logger.debug("What stands behind a proxy could not be found out", ex);
			return null;
		}
	}

	/** Closes the physical connection, so that its pool finds it closed. */
	static void closePhysical(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be aborted", ex);
		}
	}

	/**
	 * Replaces all connections of the locks' own pool, of which one has turned out to
	 * lead to a server that may only be read.
	 */
	public void replaceConnections() {
	}

	/** Closes the pool if it was created here; calls under way may fail. */
	@Override
	public abstract void close();

}
