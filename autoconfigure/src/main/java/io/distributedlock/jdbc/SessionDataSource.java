package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.distributedlock.LockConfigurationException;

/**
 * Opener of the physical connections of the locks' own pool. On each it runs the
 * application's SQL, then the session settings of the dialect, by which the server bounds
 * how late a command can take effect.
 */
final class SessionDataSource extends DelegatingDataSource {

	private static final Log logger = LogFactory.getLog(SessionDataSource.class);

	private final Initialization initialization;

	private final Duration callTimeout;

	/** The settings of the first connection's dialect: all lead to one database. */
	private volatile @Nullable List<String> settings;

	SessionDataSource(DataSource target, Initialization initialization, Duration callTimeout) {
		super(target);
		this.initialization = initialization;
		this.callTimeout = callTimeout;
	}

	@Override
	public Connection getConnection() throws SQLException {
		return initialize(obtainTargetDataSource().getConnection());
	}

	@Override
	public Connection getConnection(String username, String password) throws SQLException {
		return initialize(obtainTargetDataSource().getConnection(username, password));
	}

	/**
	 * Does nothing: the time-out of a {@code DataSource} of the application, or of the
	 * {@code DriverManager}, also bounds the application's connections.
	 */
	@Override
	public void setLoginTimeout(int seconds) {
	}

	private Connection initialize(Connection connection) throws SQLException {
		try {
			int found = boundReads(connection, (int) Math.min(this.callTimeout.toMillis(), Integer.MAX_VALUE));
			this.initialization.apply(connection);
			for (String setting : settings(connection)) {
				execute(connection, setting);
			}
			boundReads(connection, found);
			return connection;
		}
		catch (SQLException | RuntimeException | Error ex) {
			close(connection);
			throw ex;
		}
	}

	/** Returns the bound until now. A driver that supports none ignores it. */
	private static int boundReads(Connection connection, int millis) throws SQLException {
		try {
			int found = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, millis);
			return found;
		}
		catch (SQLFeatureNotSupportedException ex) {
			return 0;
		}
	}

	private List<String> settings(Connection connection) throws SQLException {
		List<String> known = this.settings;
		if (known == null) {
			try {
				// The name of the table does not matter to the session.
				known = DialectResolver.resolve(connection, JdbcLockSettings.DEFAULT_TABLE)
					.sessionSettings(this.callTimeout);
			}
			catch (LockConfigurationException ex) {
				// The first call on the connection reports it.
				return List.of();
			}
			this.settings = known;
		}
		return known;
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static void close(Connection connection) {
		try {
			connection.close();
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be closed", ex);
		}
	}

	/**
	 * What the application's pool does with a new connection.
	 *
	 * @param catalog the catalog in which the SQL runs, or {@code null}
	 * @param schema the schema in which the SQL runs, or {@code null}
	 * @param sql the SQL, or {@code null}
	 */
	record Initialization(@Nullable String catalog, @Nullable String schema, @Nullable String sql) {

		private void apply(Connection connection) throws SQLException {
			if (this.sql == null) {
				return;
			}
			if (this.catalog != null) {
				connection.setCatalog(this.catalog);
			}
			if (this.schema != null) {
				connection.setSchema(this.schema);
			}
			execute(connection, this.sql);
		}

	}

}
