package io.distributedlock.jdbc;

import java.time.Duration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.jdbc.dialect.Sql;

/**
 * Settings of a {@link JdbcLockProvider}.
 *
 * @param keyPrefix the beginning of every key, so that applications can share a table
 * @param table the lock table, optionally with its schema
 * @param retention how long the row of an ended lock is kept, at least a second
 * @param untestedDialects whether to use a database on which the statements were never
 * run
 * @since 0.1.0
 */
public record JdbcLockSettings(String keyPrefix, String table, Duration retention, boolean untestedDialects) {

	/** The default name of the lock table. */
	public static final String DEFAULT_TABLE = Sql.SCRIPT_TABLE;

	/** The default time for which the row of an ended lock is kept. */
	public static final Duration DEFAULT_RETENTION = Duration.ofHours(1);

	/** The property that has the name of the table. */
	static final String TABLE_PROPERTY = "distributed-lock.jdbc.table";

	/**
	 * Creates settings.
	 * @throws LockConfigurationException if a value is not valid
	 */
	public JdbcLockSettings {
		if (keyPrefix.isBlank()) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY, "The key prefix is blank",
					"Set distributed-lock.key-prefix or spring.application.name, so that applications sharing "
							+ "a database do not share locks by accident");
		}
		TableName.require(TABLE_PROPERTY, table);
		if (retention.compareTo(Duration.ofSeconds(1)) < 0 || retention.compareTo(Duration.ofDays(3650)) > 0) {
			throw new LockConfigurationException(LockError.INVALID_PROPERTY,
					"The property distributed-lock.jdbc.retention is " + retention
							+ ", but must be 1 second to 10 years",
					"Leave it unset to delete the row of an ended lock after an hour");
		}
	}

	/**
	 * Returns the defaults: table {@code distributed_lock}, rows kept for an hour, tested
	 * databases only.
	 * @param keyPrefix the beginning of every key
	 * @return the settings
	 */
	public static JdbcLockSettings defaults(String keyPrefix) {
		return new JdbcLockSettings(keyPrefix, DEFAULT_TABLE, DEFAULT_RETENTION, false);
	}

}
