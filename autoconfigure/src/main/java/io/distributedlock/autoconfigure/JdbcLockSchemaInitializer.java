package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;

import io.distributedlock.jdbc.JdbcLockSettings;

/**
 * Initializer that creates the lock table. A database that is down does not end the
 * start: the provider reports it, and later reports a missing table.
 */
final class JdbcLockSchemaInitializer
		extends PropertiesBasedDataSourceScriptDatabaseInitializer<DatabaseInitializationProperties> {

	private static final Log logger = LogFactory.getLog(JdbcLockSchemaInitializer.class);

	private final String table;

	private final boolean reachable;

	private JdbcLockSchemaInitializer(DataSource dataSource, JdbcLockProperties properties, @Nullable String platform) {
		super(dataSource, new SchemaProperties(properties, platform));
		this.table = properties.table();
		this.reachable = platform != null;
	}

	static JdbcLockSchemaInitializer create(DataSource dataSource, JdbcLockProperties properties) {
		return new JdbcLockSchemaInitializer(dataSource, properties, platform(dataSource));
	}

	private static @Nullable String platform(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			DatabaseMetaData database = connection.getMetaData();
			// MySQL's driver takes every server for MySQL.
			DatabaseDriver driver = database.getDatabaseProductVersion().contains("MariaDB") ? DatabaseDriver.MARIADB
					: DatabaseDriver.fromProductName(database.getDatabaseProductName());
			return driver.getId();
		}
		catch (SQLException ex) {
			logger.warn("The database does not answer: the lock table is not created now", ex);
			return null;
		}
	}

	/**
	 * Runs the scripts, twice if they fail: the second run finds a table that another
	 * process created at the same moment.
	 */
	@Override
	public boolean initializeDatabase() {
		if (!this.reachable) {
			return false;
		}
		try {
			return super.initializeDatabase();
		}
		catch (DataAccessException ex) {
			return super.initializeDatabase();
		}
	}

	@Override
	protected void runScripts(Scripts scripts) {
		List<Resource> named = new ArrayList<>();
		for (Resource script : scripts) {
			try {
				String text = script.getContentAsString(StandardCharsets.UTF_8);
				named.add(new ByteArrayResource(
						text.replace(JdbcLockSettings.DEFAULT_TABLE, this.table).getBytes(StandardCharsets.UTF_8),
						script.getDescription()));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		super.runScripts(new Scripts(named).continueOnError(scripts.isContinueOnError())
			.separator(scripts.getSeparator())
			.encoding(StandardCharsets.UTF_8));
	}

	private static final class SchemaProperties extends DatabaseInitializationProperties {

		SchemaProperties(JdbcLockProperties properties, @Nullable String platform) {
			setInitializeSchema(properties.initializeSchema());
			setPlatform((platform != null) ? platform : "unknown");
		}

		@Override
		public String getDefaultSchemaLocation() {
			return "optional:classpath:io/distributedlock/jdbc/schema-@@platform@@.sql";
		}

	}

}
