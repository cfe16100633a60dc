package io.distributedlock.jdbc.connection;

import java.sql.Statement;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.LockThreads;

/**
 * Canceller of statements in the server. Drivers cancel over a connection of its own,
 * which a server that hangs does not accept: that takes no longer than a bound, and then
 * continues on its own thread. Safe for use by many threads.
 */
final class StatementCanceller implements AutoCloseable {

	private static final long MAX_MILLIS = 50;

	private static final Log logger = LogFactory.getLog(StatementCanceller.class);

	private final ExecutorService threads = LockThreads.pool("jdbc-cancel", 4);

	/** Cancels a statement, if it still runs. */
	void cancel(Statement statement) {
		Future<?> cancellation;
		try {
			cancellation = this.threads.submit(() -> {
				statement.cancel();
				return true;
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A statement could not be cancelled", ex);
			return;
		}
		try {
			cancellation.get(MAX_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException ex) {
			logger.debug("A statement could not be cancelled", ex);
		}
		catch (TimeoutException ex) {
			// Without an interrupt of a cancellation that has begun
			cancellation.cancel(false);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void close() {
		this.threads.shutdown();
	}

}
