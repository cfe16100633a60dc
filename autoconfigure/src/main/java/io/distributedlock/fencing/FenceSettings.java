package io.distributedlock.fencing;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.jdbc.TableName;

/**
 * Settings of the fences.
 *
 * @param table the name of their table, optionally with its schema
 * @param prefix what the application's keys begin with, so that applications can share
 * the table
 * @param timeout how long a transaction waits for the fence of another one
 * @param startTimeout how long the start of the application waits for the check of a
 * database
 * @since 0.1.0
 */
public record FenceSettings(String table, String prefix, Duration timeout, Duration startTimeout) {

	/** The name of the table unless it is configured. */
	public static final String DEFAULT_TABLE = "distributed_lock_fence";

	/** The property that has the name of the table. */
	static final String TABLE_PROPERTY = "distributed-lock.fencing.table";

	/**
	 * Creates settings.
	 * @throws LockConfigurationException if the name of the table is not plain
	 */
	public FenceSettings {
		TableName.require(TABLE_PROPERTY, table);
	}

	/** Returns the time-out for a statement, which JDBC counts in seconds. */
	int timeoutSeconds() {
		return (int) Math.max(1, this.timeout.plusMillis(999).toSeconds());
	}

}
