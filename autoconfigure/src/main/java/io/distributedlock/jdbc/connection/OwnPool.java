package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.util.Credentials;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.dialect.DriverProperties;
import io.distributedlock.provider.Deadline;

/**
 * Pool of the locks' own, by Hikari. Its connections have all settings that locks need
 * from the start.
 */
final class OwnPool extends ConnectionSource {

	private static final String ISOLATION = "TRANSACTION_READ_COMMITTED";

	/** Hikari allows no shorter time-out. */
	private static final long SHORTEST_MILLIS = 250;

	private final HikariDataSource pool;

	private final SessionDataSource sessions;

	private final long maxBorrowNanos;

	/** Whether the pool leads to a database that is supported. */
	private volatile boolean supported;

	private OwnPool(HikariDataSource pool, SessionDataSource sessions) {
		this.pool = pool;
		this.sessions = sessions;
		this.supported = pool.getJdbcUrl() == null || DriverProperties.isKnown(pool.getJdbcUrl());
		this.maxBorrowNanos = TimeUnit.MILLISECONDS.toNanos(pool.getConnectionTimeout() + pool.getValidationTimeout());
	}

	/**
	 * Creates a pool.
	 * @param config how to reach the database
	 * @param size the largest number of connections
	 * @param callTimeout how long a statement may take, also enforced in the database
	 * @param customizer changes the settings, or {@code null}
	 * @throws LockConfigurationException if the customizer changed a setting that locks
	 * need
	 */
	static OwnPool create(HikariConfig config, int size, Duration callTimeout,
			@Nullable Consumer<HikariConfig> customizer) {
		configure(config, size, callTimeout);
		if (customizer != null) {
			customize(config, customizer);
		}
		// The session has it by its dialect: behind a pooler it may be the application's.
		config.setTransactionIsolation(null);
		HikariSupport.addMissing(config, DriverProperties.of(config.getJdbcUrl(), callTimeout));
		SessionDataSource sessions = HikariSupport.openWithSession(config, callTimeout);
		return new OwnPool(unstarted(config), sessions);
	}

	/** Returns a pool that opens its first connection when one is borrowed. */
	private static HikariDataSource unstarted(HikariConfig config) {
		config.validate();
		HikariDataSource pool = new HikariDataSource();
		config.copyStateTo(pool);
		return pool;
	}

	private static void configure(HikariConfig config, int size, Duration callTimeout) {
		// A borrow takes as long as both together if an idle connection is dead: half of
		// a call's time-out.
		long quarterMillis = Math.max(callTimeout.toMillis() / 4, SHORTEST_MILLIS);
		config.setPoolName("distributed-lock");
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(1);
		config.setIdleTimeout(60_000);
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation(ISOLATION);
		config.setConnectionTimeout(quarterMillis);
		config.setValidationTimeout(quarterMillis);
		config.setInitializationFailTimeout(-1);
		config.setRegisterMbeans(false);
		config.setLeakDetectionThreshold(0);
	}

	private static void customize(HikariConfig config, Consumer<HikariConfig> customizer) {
		HikariCredentialsProvider derived = config.getCredentialsProvider();
		Credentials before = config.getCredentials();
		customizer.accept(config);
		// Hikari would prefer the application's credentials to those of the customizer.
		if (config.getCredentialsProvider() == derived && config.getCredentials() != before) {
			if (config.getUsername() == null && derived != null) {
				config.setUsername(derived.getCredentials().getUsername());
			}
			config.setCredentialsProvider(null);
		}
		requireSettings(config);
	}

	private static void requireSettings(HikariConfig config) {
		if (!config.isAutoCommit() || config.isReadOnly() || config.isIsolateInternalQueries()
				|| !ISOLATION.equals(config.getTransactionIsolation())) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"A LockHikariCustomizer has set autoCommit=" + config.isAutoCommit() + ", readOnly="
							+ config.isReadOnly() + ", isolateInternalQueries=" + config.isIsolateInternalQueries()
							+ " and transactionIsolation=" + config.getTransactionIsolation()
							+ ", but locks need true, false, false and " + ISOLATION,
					"Remove these settings from the customizer");
		}
	}

	@Override
	public int size() {
		return this.pool.getMaximumPoolSize();
	}

	@Override
	public boolean canBorrowBefore(Deadline deadline) {
		HikariPoolMXBean state = this.pool.getHikariPoolMXBean();
		return state != null && state.getIdleConnections() > 0 && deadline.remainingNanos() >= this.maxBorrowNanos;
	}

	@Override
	public Connection borrow(Deadline deadline) {
		while (true) {
			try {
				requireSupported();
				return this.pool.getConnection();
			}
			catch (SQLException ex) {
				// To open a connection may take several time-outs of the pool.
				if (!isPoolTimeout(ex) || ex.getCause() != null || deadline.remainingNanos() < this.maxBorrowNanos) {
					throw noConnection(ex);
				}
			}
		}
	}

	/**
	 * Opens a first connection if the URL does not tell the database: the pool would
	 * start, repeat what is refused, and log it.
	 */
	private void requireSupported() throws SQLException {
		if (!this.supported) {
			this.sessions.getConnection().close();
			this.supported = true;
		}
	}

	@Override
	public DedicatedConnection openDedicated() throws SQLException {
		return HikariSupport.openDedicated(this.pool);
	}

	/**
	 * The server ends the statement by its own time-outs. MySQL has none for a commit
	 * that stalls: what such an attempt has granted is released later.
	 */
	@Override
	public void abort(Connection connection) {
		discard(connection);
	}

	@Override
	public void discard(Connection connection) {
		this.sessions.distrust();
		closePhysical(connection);
		this.pool.evictConnection(connection);
	}

	/** Replaces the connections once they are idle. */
	@Override
	public void replaceConnections() {
		HikariPoolMXBean state = this.pool.getHikariPoolMXBean();
		if (state != null) {
			state.softEvictConnections();
		}
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
