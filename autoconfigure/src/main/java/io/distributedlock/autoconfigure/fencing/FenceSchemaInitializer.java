package io.distributedlock.autoconfigure.fencing;

import javax.sql.DataSource;

import io.distributedlock.autoconfigure.jdbc.TableInitializer;
import io.distributedlock.fencing.FenceSettings;

/**
 * Initializer that creates the table of the fences before other beans use the database.
 * Connects to the database only when it is initialized.
 *
 * @since 0.1.0
 */
public class FenceSchemaInitializer extends TableInitializer {

	/**
	 * Creates an initializer.
	 * @param dataSource the database, without proxies that bind its connections to a
	 * transaction
	 * @param properties the name of the table, and whether it is created
	 */
	public FenceSchemaInitializer(DataSource dataSource, FenceProperties properties) {
		super(dataSource, "optional:classpath:io/distributedlock/fencing/schema-%s.sql", FenceSettings.DEFAULT_TABLE,
				properties.table(), properties.initializeSchema());
	}

}
