package io.distributedlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;

import io.distributedlock.jdbc.JdbcLockSettings;

/** Creates the lock table, if asked to. */
class JdbcLockSchemaInitializer
		extends PropertiesBasedDataSourceScriptDatabaseInitializer<DatabaseInitializationProperties> {

	private final String table;

	JdbcLockSchemaInitializer(DataSource dataSource, JdbcLockProperties properties) {
		super(dataSource, new SchemaProperties(properties));
		this.table = properties.table();
	}

	/**
	 * Two processes that create the table at the same moment: the second try finds it.
	 */
	@Override
	public boolean initializeDatabase() {
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

		SchemaProperties(JdbcLockProperties properties) {
			setInitializeSchema(properties.initializeSchema());
		}

		@Override
		public String getDefaultSchemaLocation() {
			return "classpath:io/distributedlock/jdbc/schema-@@platform@@.sql";
		}

	}

}
