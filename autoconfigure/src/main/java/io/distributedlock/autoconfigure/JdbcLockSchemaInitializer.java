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
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;

import io.distributedlock.jdbc.JdbcLockSettings;

/**
 * Initializer that creates the lock table as one of its first callbacks, before other
 * beans use the database. A database that is down does not end the start: the check of
 * the stores reports it, and later a missing table. Connects to the database only when it
 * is initialized.
 *
 * @since 0.1.0
 */
public class JdbcLockSchemaInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(JdbcLockSchemaInitializer.class);

	private static final String SCRIPT = "optional:classpath:io/distributedlock/jdbc/schema-%s.sql";

	private final DatabaseInitializationSettings settings;

	private final String table;

	/**
	 * Creates an initializer.
	 * @param dataSource the database, without proxies that bind its connections to a
	 * transaction
	 * @param properties the name of the table, and whether it is created
	 */
	public JdbcLockSchemaInitializer(DataSource dataSource, JdbcLockProperties properties) {
		this(dataSource, properties.table(), settings(properties));
	}

	private JdbcLockSchemaInitializer(DataSource dataSource, String table, DatabaseInitializationSettings settings) {
		super(dataSource, settings);
		this.settings = settings;
		this.table = table;
	}

	private static DatabaseInitializationSettings settings(JdbcLockProperties properties) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(properties.initializeSchema());
		return settings;
	}

	/**
	 * Runs the script of the database, twice if it fails: the second run finds a table
	 * that another process created at the same moment.
	 */
	@Override
	public boolean initializeDatabase() {
		String platform = (this.settings.getMode() != DatabaseInitializationMode.NEVER) ? platform() : null;
		if (platform == null) {
			return false;
		}
		this.settings.setSchemaLocations(List.of(SCRIPT.formatted(platform)));
		try {
			return super.initializeDatabase();
		}
		catch (DataAccessException ex) {
			return super.initializeDatabase();
		}
	}

	/**
	 * Returns the platform that the server itself names, or {@code null} if it does not
	 * answer.
	 */
	private @Nullable String platform() {
		try (Connection connection = getDataSource().getConnection()) {
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

}
