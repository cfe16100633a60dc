package io.distributedlock.autoconfigure.jdbc;

import javax.sql.DataSource;

import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.dialect.DatabaseKind;

/**
 * Initializer that creates the lock table. The auto-configuration runs one when the first
 * lock is needed. A bean of this type takes its place; Spring Boot runs it before other
 * beans use the database. A database that is down does not end the start: the check of
 * the stores reports it, and later a missing table. Connects to the database only when it
 * is initialized.
 *
 * @since 0.1.0
 */
public class JdbcLockSchemaInitializer extends TableInitializer {

	private final JdbcLockProperties properties;

	/**
	 * Creates an initializer.
	 * @param dataSource the database, without proxies that bind its connections to a
	 * transaction
	 * @param properties the name of the table, and whether it is created
	 */
	public JdbcLockSchemaInitializer(DataSource dataSource, JdbcLockProperties properties) {
		super(dataSource, "optional:classpath:io/distributedlock/jdbc/schema-%s.sql", JdbcLockSettings.DEFAULT_TABLE,
				properties.table(), properties.initializeSchema());
		this.properties = properties;
	}

	/** Leaves a database alone that the check at start refuses. */
	@Override
	boolean isCreatedIn(DatabaseKind kind) {
		return this.properties.untestedDialects() || kind.dialect(this.properties.table()).untested() == null;
	}

}
