package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.ConnectionSettings;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.provider.Deadline;

/**
 * {@code DataSource} that the application gives or shares, in most cases a pool. Its
 * connections get their own settings back before they are returned. The server does not
 * bound their statements, so that one that is overdue is cancelled there.
 */
class ApplicationDataSource extends ConnectionSource {

	private static final Log logger = LogFactory.getLog(ApplicationDataSource.class);

	private final DataSource dataSource;

	private final int size;

	private final StatementCanceller canceller = new StatementCanceller();

	/** The isolation of the first connection: to read that of each is a round trip. */
	private volatile @Nullable Integer isolation;

	ApplicationDataSource(DataSource dataSource, int size) {
		this.dataSource = dataSource;
		this.size = size;
	}

	@Override
	public final boolean isOwn() {
		return false;
	}

	@Override
	public final int size() {
		return this.size;
	}

	@Override
	public final Connection borrow(Deadline deadline) {
		return borrow();
	}

	private Connection borrow() {
		try {
			return TrackedConnection.track(this.dataSource.getConnection());
		}
		catch (SQLException ex) {
			throw noConnection(ex);
		}
	}

	@Override
	public DedicatedConnection openDedicated() throws SQLException {
		Connection connection = borrow();
		try {
			connection.setAutoCommit(true);
		}
		catch (SQLException | RuntimeException ex) {
			discard(connection);
			throw ex;
		}
		return new DedicatedConnection(connection, () -> discard(connection));
	}

	/**
	 * Leaves the isolation alone behind a pooler, where the statement that changes it and
	 * the one that restores it can reach two sessions of the application.
	 */
	@Override
	public final ConnectionSettings adapt(Connection connection, Dialect dialect) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		Integer known = this.isolation;
		if (known == null) {
			known = dialect.isPooled(connection) ? ConnectionSettings.REQUIRED.isolation()
					: connection.getTransactionIsolation();
			if (!autoCommit) {
				connection.rollback();
			}
			this.isolation = known;
		}
		ConnectionSettings found = new ConnectionSettings(autoCommit, known);
		try {
			ConnectionSettings.REQUIRED.apply(connection, found);
			return found;
		}
		catch (SQLException ex) {
			restore(connection, found);
			throw ex;
		}
	}

	@Override
	public final void restore(Connection connection, ConnectionSettings found) {
		try {
			found.apply(connection, ConnectionSettings.REQUIRED);
		}
		catch (SQLException ex) {
			logger.debug("The settings of a connection could not be restored", ex);
			discard(connection);
		}
	}

	/** Cancels the statement first: the abort of most drivers only closes the socket. */
	@Override
	public final void abort(Connection connection) {
		Statement statement = TrackedConnection.statement(connection);
		if (statement != null) {
			this.canceller.cancel(statement);
		}
		discard(connection);
	}

	@Override
	public final void close(Connection connection) {
		if (TrackedConnection.end(connection)) {
			super.close(connection);
		}
	}

	@Override
	public final void discard(Connection connection) {
		if (TrackedConnection.end(connection)) {
			closePhysical(connection);
			remove(TrackedConnection.target(connection));
		}
	}

	/**
	 * Removes a connection from the pool, which finds out that it was closed when it gets
	 * it back.
	 */
	void remove(Connection closed) {
		super.close(closed);
	}

	@Override
	public final void close() {
		this.canceller.close();
	}

}
