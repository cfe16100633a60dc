package io.distributedlock.jdbc.connection;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.Sql;
import io.distributedlock.provider.Deadline;

/**
 * Opener of the physical connections of the locks' own pool. On each it runs the
 * application's SQL, then the session settings of the dialect, by which the server bounds
 * how late a command can take effect. A connection that the pool validates before it
 * lends it asks the server only if that has not answered for {@link #TRUSTED_NANOS}.
 */
final class SessionDataSource extends DelegatingDataSource {

	/**
	 * How long a session is trusted to be alive after its last answer. A lock that is
	 * taken once a second would otherwise cost a round trip more for each statement,
	 * because Hikari validates connections that were idle for half a second.
	 */
	static final long TRUSTED_NANOS = TimeUnit.SECONDS.toNanos(5);

	private final Initialization initialization;

	private final @Nullable String validationQuery;

	private final Duration callTimeout;

	/** Trust that ends before this began before a session was last found dead. */
	private volatile Deadline distrusted = Deadline.now();

	/** The dialect of the first connection: all lead to one database. */
	private volatile @Nullable Dialect dialect;

	SessionDataSource(DataSource target, Initialization initialization, @Nullable String validationQuery,
			Duration callTimeout) {
		super(target);
		this.initialization = initialization;
		this.validationQuery = validationQuery;
		this.callTimeout = callTimeout;
	}

	/** Returns an opener of sessions with the same settings over another target. */
	SessionDataSource over(DataSource other) {
		return new SessionDataSource(other, this.initialization, this.validationQuery, this.callTimeout);
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
			Dialect used = dialect(connection);
			used.prepareSession(connection, this.callTimeout);
			String query = (this.validationQuery != null) ? this.validationQuery : used.validationQuery();
			boundReads(connection, found);
			return new Session(connection, query).proxy();
		}
		catch (SQLException | RuntimeException | Error ex) {
			JdbcUtils.closeConnection(connection);
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
				known = DatabaseKind.of(connection).dialect(Sql.SCRIPT_TABLE);
			}
			catch (LockConfigurationException ex) {
				throw new SQLException(ex.problem(), ex);
			}
			this.dialect = known;
		}
		return known;
	}

	/** Lets all sessions answer once before they are trusted again. */
	void distrust() {
		this.distrusted = Deadline.afterNanos(TRUSTED_NANOS);
	}

	/**
	 * Physical connection that is trusted to be alive for a time after its last answer.
	 * Its pool lends it to one thread at a time.
	 */
	private final class Session extends TrackedConnection {

		/**
		 * Counts from the creation of the last statement. It was answered after that,
		 * because a session whose statement gets no answer does not return to the pool.
		 */
		private Deadline trusted = Deadline.afterNanos(TRUSTED_NANOS);

		private final String validationQuery;

		private Session(Connection target, String validationQuery) {
			super(target);
			this.validationQuery = validationQuery;
		}

		@Override
		public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
				throws Throwable {
			return method.getName().equals("isValid") ? (Object) isValid() : super.invoke(proxy, method, arguments);
		}

		@Override
		void onCreated(Statement created) {
			this.trusted = Deadline.afterNanos(TRUSTED_NANOS);
		}

		/**
		 * The pool has bounded reads, in milliseconds: the time-out of a driver's own
		 * validation counts whole seconds.
		 */
		private boolean isValid() throws SQLException {
			boolean alive = !this.trusted.isPast() && SessionDataSource.this.distrusted.isBefore(this.trusted);
			if (!alive) {
				Sql.execute(this.target, this.validationQuery);
				this.trusted = Deadline.afterNanos(TRUSTED_NANOS);
			}
			return true;
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
