package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.LockDataSource;

/**
 * Configuration properties for locks in a database.
 *
 * @param table Name of the lock table, optionally with its schema.
 * @param pool Connection pool that locks use.
 * @param poolSize Maximum number of connections that locks use at a time.
 * @param retention Time for which the row of an ended lock is kept.
 * @param initializeSchema Mode of creating the lock table.
 * @since 0.1.0
 */
@ConfigurationProperties("distributed-lock.jdbc")
public record JdbcLockProperties(@DefaultValue(JdbcLockSettings.DEFAULT_TABLE) String table,
		@DefaultValue("own") Pool pool, @DefaultValue("" + LockDataSource.DEFAULT_SIZE) int poolSize,
		@DefaultValue("1h") Duration retention, @DefaultValue("embedded") DatabaseInitializationMode initializeSchema) {

	public JdbcLockProperties {
		if (poolSize < 1 || poolSize > 100) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.jdbc.pool-size is " + poolSize + ", but must be 1 to 100",
					"Leave it unset for " + LockDataSource.DEFAULT_SIZE);
		}
	}

	/** Connection pool that locks use. */
	public enum Pool {

		/** A pool of their own, with the settings of the application's pool. */
		OWN,
		/**
		 * The application's pool. While locked methods hold all its connections, no lock
		 * can be renewed or released.
		 */
		APPLICATION

	}

}
