package io.distributedlock.autoconfigure.jdbc;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.DistributedLockProperties;
import io.distributedlock.autoconfigure.JdbcStrategy;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TableName;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;

/**
 * Configuration properties for locks in a database.
 *
 * @param table Name of the lock table, optionally with its schema.
 * @param strategy Way in which the database keeps a lock for its holder.
 * @param pool Connections that locks use.
 * @param retention Time for which the row of an ended lock is kept.
 * @param initializeSchema Mode of creating the lock table.
 * @param untestedDialects Whether Oracle, SQL Server and Db2 may keep locks, although the
 * statements were never run on them.
 * @since 0.1.0
 */
@Lazy
@ConfigurationProperties("distributed-lock.jdbc")
public record JdbcLockProperties(@DefaultValue(JdbcLockSettings.DEFAULT_TABLE) String table,
		@DefaultValue("lease") JdbcStrategy strategy, @DefaultValue Pool pool, @DefaultValue("1h") Duration retention,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
		@DefaultValue("false") boolean untestedDialects) {

	public JdbcLockProperties {
		TableName.require("distributed-lock.jdbc.table", table);
	}

	/**
	 * Connections that locks use.
	 *
	 * @param type Connection pool that locks use.
	 * @param size Maximum number of connections that locks use at a time, not counting
	 * those that hold row locks.
	 * @param rowLockSize Maximum number of row locks that a process holds or waits for at
	 * a time, each with a connection of its own.
	 */
	public record Pool(@DefaultValue("own") Type type, @DefaultValue("" + LockDataSource.DEFAULT_SIZE) int size,
			@DefaultValue("" + JdbcRowLockProvider.DEFAULT_SIZE) int rowLockSize) {

		public Pool {
			if (size < 1 || size > 100) {
				throw DistributedLockProperties.invalid("jdbc.pool.size", size, "but must be 1 to 100",
						"Leave it unset for " + LockDataSource.DEFAULT_SIZE);
			}
			if (rowLockSize < 2 || rowLockSize > 1000) {
				throw DistributedLockProperties.invalid("jdbc.pool.row-lock-size", rowLockSize, "but must be 2 to 1000",
						"Leave it unset for " + JdbcRowLockProvider.DEFAULT_SIZE);
			}
		}

		/** Connection pool that locks use. */
		public enum Type {

			/** A pool of their own, with the settings of the application's pool. */
			OWN,
			/**
			 * The application's pool. While locked methods hold all its connections, no
			 * lock can be renewed or released.
			 */
			APPLICATION

		}

	}

}
