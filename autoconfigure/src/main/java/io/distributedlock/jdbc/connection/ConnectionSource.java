package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.sql.Wrapper;
import java.util.Locale;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.support.JdbcUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.Deadline;

/**
 * Source of connections for calls, of one kind. Safe for use by many threads.
 */
public abstract class ConnectionSource implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(ConnectionSource.class);

	/** Whether nothing else uses these connections. */
	public boolean isOwn() {
		return true;
	}

	/** Returns the largest number of connections in use at a time. */
	public abstract int size();

	/** Returns what the number of connections depends on, for messages. */
	public String sizedBy() {
		return "distributed-lock.jdbc.pool.size, or the size of the pool if that is smaller";
	}

	/**
	 * Whether there probably is a connection at once, and {@link #borrow} ends before the
	 * deadline even if that one turns out to be dead.
	 */
	public boolean canBorrowBefore(Deadline deadline) {
		return false;
	}

	/**
	 * Borrows a connection with the settings of the pool.
	 * @param deadline when to give up, where the pool can be asked again until then
	 * @throws LockProviderException if the pool has no connection
	 * @throws LockConfigurationException if the database is not supported
	 */
	public abstract Connection borrow(Deadline deadline);

	/** Translates the failure of a pool that has lent no connection. */
	static LockException noConnection(SQLException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException refusal) {
				return refusal;
			}
		}
		LockError error = SqlErrors.classify(ex);
		if (error == LockError.STORE_FAILED && isPoolTimeout(ex)) {
			error = LockError.STORE_TIMEOUT;
		}
		return LockProviderException.nothingSent(error, SqlErrors.PROVIDER, "has no connection: " + problem(ex), ex);
	}

	/** A pool says for how long it has tried, and its cause why that has failed. */
	private static String problem(SQLException ex) {
		String message = String.valueOf(ex.getMessage());
		String why = (ex.getCause() != null) ? ex.getCause().getMessage() : null;
		return (why != null && !message.contains(why)) ? message + ": " + why.lines().findFirst().orElse("") : message;
	}

	/** Whether a pool had no connection in time. Its cause may say why. */
	static boolean isPoolTimeout(SQLException ex) {
		String message = String.valueOf(ex.getMessage()).toLowerCase(Locale.ROOT);
		return ex instanceof SQLTimeoutException
				|| (ex instanceof SQLTransientConnectionException && message.contains("timed out"))
				|| message.contains("timeout waiting for idle object");
	}

	/**
	 * Opens a connection outside the pool, or borrows one of a pool other than Hikari.
	 */
	public abstract DedicatedConnection openDedicated() throws SQLException;

	/**
	 * Runs a call with the settings that locks need.
	 * @param readMillis the bound of each read from the connection
	 */
	public <T extends @Nullable Object> T run(Connection connection, Dialect dialect, int readMillis, SqlCall<T> call)
			throws SQLException {
		dialect.limitReads(connection, readMillis);
		return call.run(connection, dialect);
	}

	/** Returns a connection to the pool. */
	public void close(Connection connection) {
		JdbcUtils.closeConnection(connection);
	}

	/**
	 * Ends a statement under way, and removes its connection from the pool. Any thread
	 * may call it.
	 */
	public abstract void abort(Connection connection);

	/** Closes a connection and removes it from the pool. Any thread may call it. */
	public abstract void discard(Connection connection);

	/** Returns the object of a type behind proxies, or {@code null} if there is none. */
	static <T> @Nullable T find(Wrapper proxy, Class<T> type) {
		if (type.isInstance(proxy)) {
			return type.cast(proxy);
		}
		try {
			return proxy.isWrapperFor(type) ? proxy.unwrap(type) : null;
		}
		catch (SQLException ex) {
			logger.debug("What stands behind a proxy could not be found out", ex);
			return null;
		}
	}

	/** Closes the physical connection, so that its pool finds it closed. */
	static void closePhysical(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be aborted", ex);
		}
	}

	/**
	 * Replaces all connections of the locks' own pool, of which one has turned out to
	 * lead to a server that may only be read.
	 */
	public void replaceConnections() {
	}

	/** Closes what was created here; calls under way may fail. */
	@Override
	public abstract void close();

}
