package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;

/**
 * Source of connections for locks: a small pool of their own, so that held locks can be
 * renewed and released while the application holds every connection of its pool.
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

	private final DataSource dataSource;

	private final int size;

	private final boolean own;

	/** The Hikari pool of the connections, or {@code null} if there is none. */
	private final @Nullable DataSource pool;

	/** The isolation of the first connection: to read that of each is a round trip. */
	private volatile @Nullable Integer isolation;

	private LockDataSource(DataSource dataSource, int size, boolean own) {
		this.dataSource = dataSource;
		this.own = own;
		this.pool = hikari(dataSource);
		this.size = (this.pool != null) ? Math.min(size, HikariSupport.size(this.pool)) : size;
	}

	private static @Nullable DataSource hikari(DataSource dataSource) {
		try {
			return HIKARI ? HikariSupport.unwrap(dataSource) : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * Creates a pool of its own with the settings of the application's
	 * {@code DataSource}. Where it does not reveal them, shares the application's pool
	 * and logs a warning.
	 * @param application the application's {@code DataSource}
	 * @param size the largest number of connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @return the source of connections
	 */
	public static LockDataSource derive(DataSource application, int size, Duration callTimeout) {
		DataSource target = unwrap(application);
		try {
			HikariConfig config = HIKARI ? HikariSupport.configuration(target) : null;
			if (config != null) {
				return new LockDataSource(HikariSupport.create(config, size, callTimeout), size, true);
			}
		}
		catch (SQLException ex) {
			logger.debug("The settings of the application's DataSource could not be read", ex);
		}
		logger.warn("Locks share the application's connection pool, because settings for a pool of their own cannot "
				+ "be read from " + target.getClass().getName()
				+ ". While locked methods hold all its connections, no lock can be renewed. Define a DataSource "
				+ "bean qualified with @DistributedLockDataSource");
		return new LockDataSource(target, size, false);
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
		return new LockDataSource(HikariSupport.create(config, size, callTimeout), size, true);
	}

	/**
	 * Uses a given {@code DataSource} as it is, and never closes it. Nothing else should
	 * use its connections.
	 * @param dataSource the source of connections
	 * @param size the largest number of connections in use at a time
	 * @return the source of connections
	 */
	public static LockDataSource of(DataSource dataSource, int size) {
		return new LockDataSource(unwrap(dataSource), size, false);
	}

	/** Unwraps proxies that return the connection of the caller's transaction. */
	private static DataSource unwrap(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
			target = delegating.getTargetDataSource();
		}
		return target;
	}

	/** Whether nothing else uses these connections. */
	boolean isOwn() {
		return this.own;
	}

	int size() {
		return this.size;
	}

	boolean hasIdleConnection() {
		return this.own && this.pool != null && HikariSupport.hasIdleConnection((HikariDataSource) this.pool);
	}

	/** Returns how long {@link #borrow()} takes at most, zero where that is not known. */
	Duration maxBorrowTime() {
		return (this.pool != null) ? HikariSupport.maxBorrowTime(this.pool) : Duration.ZERO;
	}

	/**
	 * Borrows a connection with the settings of the pool, which {@link #adapt} changes.
	 * @throws LockProviderException if the pool has no connection
	 */
	Connection borrow() {
		try {
			return this.dataSource.getConnection();
		}
		catch (SQLException ex) {
			LockError error = (SqlErrors.classify(ex) != LockError.STORE_FAILED) ? SqlErrors.classify(ex)
					: (ex.getCause() == null && ex.getMessage() != null && ex.getMessage().contains("timed out"))
							? LockError.STORE_TIMEOUT : LockError.STORE_FAILED;
			throw LockProviderException.nothingSent(error, SqlErrors.PROVIDER, "has no connection: " + ex.getMessage(),
					ex);
		}
	}

	/**
	 * Opens a connection outside the pool, or borrows one of a pool other than Hikari.
	 */
	DedicatedConnection openDedicated() throws SQLException {
		if (this.pool == null) {
			Connection connection = borrow();
			try {
				adapt(connection);
			}
			catch (SQLException | RuntimeException ex) {
				discard(connection);
				throw ex;
			}
			return new DedicatedConnection(connection, () -> discard(connection));
		}
		HikariDataSource single = HikariSupport.single((HikariDataSource) this.pool);
		try {
			Connection connection = single.getConnection();
			return new DedicatedConnection(connection, () -> {
				HikariSupport.evict(single, connection);
				single.close();
			});
		}
		catch (SQLException | RuntimeException ex) {
			single.close();
			throw ex;
		}
	}

	/**
	 * Applies the settings that locks need. Each change may be a round trip.
	 * @return the settings to restore
	 */
	ConnectionSettings adapt(Connection connection) throws SQLException {
		if (this.own) {
			return ConnectionSettings.REQUIRED;
		}
		Integer known = this.isolation;
		if (known == null) {
			known = connection.getTransactionIsolation();
			this.isolation = known;
		}
		ConnectionSettings found = new ConnectionSettings(connection.getAutoCommit(), known);
		ConnectionSettings.REQUIRED.apply(connection, found);
		return found;
	}

	/** Restores the settings before {@link #adapt}, or discards the connection. */
	void restore(Connection connection, ConnectionSettings found) {
		try {
			found.apply(connection, ConnectionSettings.REQUIRED);
		}
		catch (SQLException ex) {
			logger.debug("The settings of a connection could not be restored", ex);
			discard(connection);
		}
	}

	/** Returns a connection to the pool. */
	void close(Connection connection) {
		try {
			connection.close();
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be closed", ex);
		}
	}

	/** Aborts a connection and removes it from the pool. Any thread may call it. */
	void discard(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be aborted", ex);
		}
		if (this.pool == null || !HikariSupport.evict((HikariDataSource) this.pool, connection)) {
			close(connection);
		}
	}

	/**
	 * Replaces all connections of the locks' own pool, of which one has turned out to
	 * lead to a server that may only be read.
	 */
	void replaceConnections() {
		if (this.own && this.pool != null) {
			HikariSupport.replaceConnections((HikariDataSource) this.pool);
		}
	}

	/** Closes the pool if it was created here. */
	@Override
	public void close() {
		if (this.own && this.dataSource instanceof HikariDataSource ownPool) {
			ownPool.close();
		}
	}

}
