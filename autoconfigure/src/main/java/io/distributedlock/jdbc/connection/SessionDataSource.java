package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.DialectResolver;
import io.distributedlock.jdbc.dialect.Sql;

/**
 * Opener of the physical connections of the locks' own pool. On each it runs the
 * application's SQL, then the session settings of the dialect, by which the server bounds
 * how late a command can take effect.
 */
final class SessionDataSource extends DelegatingDataSource {

	private static final Log logger = LogFactory.getLog(SessionDataSource.class);

	private final Initialization initialization;

	private final Duration callTimeout;

	/** The dialect of the first connection: all lead to one database. */
	private volatile @Nullable Dialect dialect;

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
			dialect(connection).prepareSession(connection, this.callTimeout);
			boundReads(connection, found);
			return connection;
		}
		catch (SQLException | RuntimeException | Error ex) {
			close(connection);
			throw ex;
		}
	}

	/** Returns the bound until now. A driver that supports none ignores it. */
	static int boundReads(Connection connection, int millis) throws SQLException {
		try {
			int found = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, millis);
			return found;
		}
		catch (SQLFeatureNotSupportedException ex) {
			return 0;
		}
	}

	/**
	 * @throws SQLException with the refusal of a database that is not supported as its
	 * cause, by which its pool tells it
	 */
	private Dialect dialect(Connection connection) throws SQLException {
		Dialect known = this.dialect;
		if (known == null) {
			try {
				// The name of the table does not matter to the session.
				known = DialectResolver.resolve(connection, Sql.SCRIPT_TABLE);
			}
			catch (LockConfigurationException ex) {
				throw new SQLException(ex.problem(), ex);
			}
			this.dialect = known;
		}
		return known;
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
			Sql.execute(connection, this.sql);
		}

	}

}
