package io.distributedlock.autoconfigure.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.jdbc.dialect.DatabaseKind;

/**
 * Initializer that creates a table as one of its first callbacks, before other beans use
 * the database. A database that is down does not end the start: the check of the stores
 * reports it, and later a missing table. Connects to the database only when it is
 * initialized.
 */
public abstract class TableInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Log logger = LogFactory.getLog(TableInitializer.class);

	private final DatabaseInitializationSettings settings;

	private final String script;

	private final String scriptTable;

	private final String table;

	/**
	 * Creates an initializer.
	 * @param dataSource the database
	 * @param script the location of the script, with a place for the platform
	 * @param scriptTable the name of the table in the script
	 * @param table the name of the table
	 * @param mode whether it is created
	 */
	public TableInitializer(DataSource dataSource, String script, String scriptTable, String table,
			DatabaseInitializationMode mode) {
		this(dataSource, script, scriptTable, table, settings(mode));
	}

	private TableInitializer(DataSource dataSource, String script, String scriptTable, String table,
			DatabaseInitializationSettings settings) {
		super(dataSource, settings);
		this.settings = settings;
		this.script = script;
		this.scriptTable = scriptTable;
		this.table = table;
	}

	private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(mode);
		return settings;
	}

	/**
	 * Runs the script of the database, twice if it fails: the second run finds a table
	 * that another process created at the same moment. A script that fails again leaves
	 * it to the check of the table to tell what is missing.
	 */
	@Override
	public boolean initializeDatabase() {
		DatabaseKind kind = (this.settings.getMode() != DatabaseInitializationMode.NEVER) ? kind() : null;
		if (kind == null) {
			return false;
		}
		this.settings.setSchemaLocations(List.of(this.script.formatted(kind.platform())));
		this.settings.setContinueOnError(kind.isScriptUnconditional());
		try {
			return initializeAgainIfFailed();
		}
		catch (DataAccessException ex) {
			logger.warn("The script that creates the table '" + this.table + "' has failed: "
					+ ex.getMostSpecificCause().getMessage());
			return false;
		}
	}

	/** Whether the table may be created in a database of the kind. */
	boolean isCreatedIn(DatabaseKind kind) {
		return true;
	}

	private boolean initializeAgainIfFailed() {
		try {
			return super.initializeDatabase();
		}
		catch (DataAccessException ex) {
			return super.initializeDatabase();
		}
	}

	/**
	 * Returns the kind that the server itself names, or {@code null} if it does not
	 * answer, or is one that the check at start refuses.
	 */
	private @Nullable DatabaseKind kind() {
		try (Connection connection = getDataSource().getConnection()) {
			DatabaseKind kind = DatabaseKind.of(connection);
			return isCreatedIn(kind) ? kind : null;
		}
		catch (LockConfigurationException ex) {
			logger.debug("The table '" + this.table + "' is not created", ex);
			return null;
		}
		catch (SQLException ex) {
			logger.warn("The database does not answer: the table '" + this.table + "' is not created now", ex);
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
						text.replace(this.scriptTable, this.table).getBytes(StandardCharsets.UTF_8),
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
