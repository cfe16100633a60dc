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
 * Where the locks' connections come from: a small pool of their own, so that held locks
 * can be renewed and released while the application holds every connection of its pool.
 * <p>
 * Connections are plain ones in autocommit mode at READ COMMITTED, never those of the
 * caller's transaction. Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class LockDataSource implements AutoCloseable {

	/** How many connections the locks use at most unless said otherwise. */
	public static final int DEFAULT_SIZE = 8;

	private static final Log logger = LogFactory.getLog(LockDataSource.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			LockDataSource.class.getClassLoader());

	private final DataSource dataSource;

	private final int size;

	private final boolean own;

	/** A Hikari pool, where connections come from one. */
	private final @Nullable DataSource pool;

	/** That of the pool's first connection: to ask each one would be a round trip. */
	private volatile @Nullable Integer isolation;

	private LockDataSource(DataSource dataSource, int size, boolean own) {
		this.dataSource = dataSource;
		this.own = own;
		this.pool = hikari(dataSource);
		this.size = (this.pool != null) ? Math.min(size, HikariPools.size(this.pool)) : size;
	}

	private static @Nullable DataSource hikari(DataSource dataSource) {
		try {
			return HIKARI ? HikariPools.unwrap(dataSource) : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * A pool of our own with the settings of the application's {@code DataSource}; where
	 * they cannot be learned, the application's pool itself, with a warning.
	 * @param application the application's {@code DataSource}
	 * @param size the most connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @return the source of connections
	 */
	public static LockDataSource derive(DataSource application, int size, Duration callTimeout) {
		DataSource target = unwrap(application);
		try {
			HikariConfig config = HIKARI ? HikariPools.configuration(target) : null;
			if (config != null) {
				return new LockDataSource(HikariPools.create(config, size, callTimeout), size, true);
			}
		}
		catch (SQLException ex) {
			logger.debug("The application's DataSource does not tell its settings", ex);
		}
		logger.warn("Locks share the application's connection pool, because no settings for a pool of their own "
				+ "could be derived from a " + target.getClass().getName()
				+ ": bodies that hold all its connections can keep locks from being renewed. Define a DataSource "
				+ "bean qualified with @DistributedLockDataSource");
		return new LockDataSource(target, size, false);
	}

	/**
	 * A pool of our own for a database.
	 * @param url the JDBC URL
	 * @param username the user, if any
	 * @param password the password, if any
	 * @param driverClassName the driver's class, or {@code null} to find it by the URL
	 * @param size the most connections
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
		return new LockDataSource(HikariPools.create(config, size, callTimeout), size, true);
	}

	/**
	 * A given {@code DataSource}, used as it is and never closed. Nothing else should
	 * draw from it.
	 * @param dataSource the source of connections
	 * @param size the most connections to use at a time
	 * @return the source of connections
	 */
	public static LockDataSource of(DataSource dataSource, int size) {
		return new LockDataSource(unwrap(dataSource), size, false);
	}

	/** Takes off what would hand out the connection of the caller's transaction. */
	private static DataSource unwrap(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
			target = delegating.getTargetDataSource();
		}
		return target;
	}

	int size() {
		return this.size;
	}

	boolean hasIdleConnection() {
		return this.own && this.pool != null && HikariPools.hasIdleConnection((HikariDataSource) this.pool);
	}

	/** How long {@link #borrow()} takes at most, where that is known. */
	Duration longestBorrow() {
		return (this.pool != null) ? HikariPools.longestBorrow(this.pool) : Duration.ZERO;
	}

	/** A connection as the pool has it: {@link #adapt} makes it fit for locks. */
	Connection borrow() {
		try {
			return this.dataSource.getConnection();
		}
		catch (SQLException ex) {
			LockError error = (SqlErrors.classify(ex) != LockError.STORE_FAILED) ? SqlErrors.classify(ex)
					: (ex.getCause() == null && ex.getMessage() != null && ex.getMessage().contains("timed out"))
							? LockError.STORE_TIMEOUT : LockError.STORE_FAILED;
			throw LockProviderException.nothingSent(error, SqlErrors.PROVIDER, "gave no connection: " + ex.getMessage(),
					ex);
		}
	}

	/**
	 * A connection of the database outside the pool, where the pool tells how to make
	 * one.
	 */
	DedicatedConnection dedicated() throws SQLException {
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
		HikariDataSource single = HikariPools.single((HikariDataSource) this.pool);
		try {
			Connection connection = single.getConnection();
			return new DedicatedConnection(connection, () -> {
				HikariPools.evict(single, connection);
				single.close();
			});
		}
		catch (SQLException | RuntimeException ex) {
			single.close();
			throw ex;
		}
	}

	/**
	 * Makes a connection fit for locks. May talk to the database.
	 * @return how it has to go back
	 */
	ConnectionSettings adapt(Connection connection) throws SQLException {
		if (this.own) {
			return ConnectionSettings.FIT;
		}
		Integer known = this.isolation;
		if (known == null) {
			known = connection.getTransactionIsolation();
			this.isolation = known;
		}
		ConnectionSettings found = new ConnectionSettings(connection.getAutoCommit(), known);
		ConnectionSettings.FIT.change(connection, found);
		return found;
	}

	/** Undoes {@link #adapt}, or sees to it that nobody gets the connection. */
	void restore(Connection connection, ConnectionSettings found) {
		try {
			found.change(connection, ConnectionSettings.FIT);
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be set back", ex);
			discard(connection);
		}
	}

	void giveBack(Connection connection) {
		try {
			connection.close();
		}
		catch (SQLException ex) {
			logger.debug("A connection failed as it was given back", ex);
		}
	}

	/** Ends what runs on the connection, and never lets anybody use it again. */
	void discard(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be aborted", ex);
		}
		if (this.pool == null || !HikariPools.evict((HikariDataSource) this.pool, connection)) {
			giveBack(connection);
		}
	}

	/** Closes the pool, if it is our own. */
	@Override
	public void close() {
		if (this.own && this.dataSource instanceof HikariDataSource ownPool) {
			ownPool.close();
		}
	}

}
