package io.distributedlock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.jdbc.TableName;
import io.distributedlock.provider.LockThreads;

/**
 * Check of databases at start. It runs on a thread of its own: neither a pool nor a
 * connection of the application bounds how long a database that hangs keeps its caller.
 */
final class FenceTableCheck {

	private static final Log logger = LogFactory.getLog(FenceTableCheck.class);

	private final FenceDialects dialects;

	private final Duration timeout;

	FenceTableCheck(FenceDialects dialects, Duration timeout) {
		this.dialects = dialects;
		this.timeout = timeout;
	}

	/**
	 * Checks that a database has the table. One that does not answer in time is reported.
	 * @param dataSource the database
	 * @param name the name of the database for messages
	 * @throws LockConfigurationException if the table is missing, or the database is not
	 * supported
	 */
	void run(DataSource dataSource, String name) {
		FutureTask<FenceDialect> check = new FutureTask<>(() -> check(dataSource, name));
		LockThreads.factory("fence-check").newThread(check).start();
		try {
			check.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			report(name, "did not answer within " + this.timeout.toMillis() + " ms");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			report(name, "did not answer before the start was interrupted");
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof LockConfigurationException refusal) {
				throw refusal;
			}
			report(name, "did not answer: " + ex.getCause());
		}
	}

	private FenceDialect check(DataSource dataSource, String name) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			FenceDialect dialect = this.dialects.of(dataSource, connection);
			try {
				dialect.requireTable(connection);
				return dialect;
			}
			catch (SQLException ex) {
				if (FenceErrors.isMissing(ex)) {
					throw FenceErrors.missing(dialect, " of " + name, ex);
				}
				TableName.requireUnreserved(FenceSettings.TABLE_PROPERTY, dialect.table(), ex);
				throw ex;
			}
		}
	}

	private static void report(String name, String problem) {
		logger.warn("The table of the fences could not be checked at start, because the database of " + name + ' '
				+ problem);
	}

}
