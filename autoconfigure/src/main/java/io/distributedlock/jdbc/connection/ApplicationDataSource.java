package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;

/**
 * {@code DataSource} that the application gives or shares, in most cases a pool. Its
 * connections get their own settings back before they are returned. The server does not
 * bound their statements, so that one that is overdue is cancelled there.
 */
class ApplicationDataSource extends ConnectionSource {

	private static final Log logger = LogFactory.getLog(ApplicationDataSource.class);

	private static final int ISOLATION = Connection.TRANSACTION_READ_COMMITTED;

	private static final long CANCEL_MILLIS = 50;

	private final DataSource dataSource;

	private final int size;

	private final ExecutorService cancellers = LockThreads.pool("jdbc-cancel", 4);

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
			Connection connection = this.dataSource.getConnection();
			if (connection == null) {
				throw DatabaseKind.unsupported(DatabaseKind.UNKNOWN);
			}
			return new TrackedConnection(connection).proxy();
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

	/** Restores the settings of the pool after the call. */
	@Override
	public final <T extends @Nullable Object> T run(Connection connection, Dialect dialect, int readMillis,
			SqlCall<T> call) throws SQLException {
		int foundMillis = dialect.readLimit(connection);
		dialect.limitReads(connection, readMillis);
		try {
			boolean autoCommit = connection.getAutoCommit();
			int found = isolation(connection, dialect, autoCommit);
			try {
				// Each change may be a round trip.
				if (found != ISOLATION) {
					connection.setTransactionIsolation(ISOLATION);
				}
				if (!autoCommit) {
					connection.setAutoCommit(true);
				}
				return call.run(connection, dialect);
			}
			finally {
				restore(connection, found, autoCommit);
			}
		}
		finally {
			if (!connection.isClosed()) {
				dialect.limitReads(connection, foundMillis);
			}
		}
	}

	/**
	 * Returns the isolation of the pool's connections. Leaves it alone behind a pooler,
	 * where the statement that changes it and the one that restores it can reach two
	 * sessions of the application.
	 */
	private int isolation(Connection connection, Dialect dialect, boolean autoCommit) throws SQLException {
		Integer known = this.isolation;
		if (known == null) {
			known = dialect.isPooled(connection) ? ISOLATION : connection.getTransactionIsolation();
			if (!autoCommit) {
				connection.rollback();
			}
			this.isolation = known;
		}
		return known;
	}

	private void restore(Connection connection, int isolation, boolean autoCommit) {
		try {
			if (isolation != ISOLATION) {
				connection.setTransactionIsolation(isolation);
			}
			if (!autoCommit) {
				connection.setAutoCommit(false);
			}
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
			cancel(statement);
		}
		discard(connection);
	}

	/**
	 * Cancels a statement in the server, if it still runs. Drivers do so over another
	 * connection, which a server that hangs does not accept: after a bound that continues
	 * on its own thread.
	 */
	private void cancel(Statement statement) {
		try {
			Future<?> cancellation = this.cancellers.submit(() -> {
				statement.cancel();
				return true;
			});
			try {
				cancellation.get(CANCEL_MILLIS, TimeUnit.MILLISECONDS);
			}
			finally {
				// Without an interrupt of a cancellation that has begun
				cancellation.cancel(false);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException | RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A statement could not be cancelled in time", ex);
		}
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
		this.cancellers.shutdown();
	}

}
