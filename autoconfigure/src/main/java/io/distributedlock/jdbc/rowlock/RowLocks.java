package io.distributedlock.jdbc.rowlock;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.SqlCall;
import io.distributedlock.jdbc.connection.SqlCallExecutor;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.RowLockStatements;
import io.distributedlock.jdbc.dialect.RowLockStatements.RowWait;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.jdbc.rowlock.RowLockPool.Reservation;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

/**
 * Locking of rows, each in a transaction of its own, on a connection of the pool for row
 * locks. Safe for use by many threads.
 */
final class RowLocks {

	/** How much longer than its wait in the queue of the database an attempt may take. */
	private static final Duration MARGIN = Duration.ofMillis(200);

	private static final Log logger = LogFactory.getLog(RowLocks.class);

	private final RowLockPool pool;

	private final SqlCallExecutor calls;

	private final String table;

	/** The lock time-out of the sessions of the pool. */
	private final Duration wait;

	/**
	 * Creates the locking.
	 * @param calls the executor over the pool
	 * @param callTimeout the time-out for which the sessions of the pool are set up
	 */
	RowLocks(RowLockPool pool, SqlCallExecutor calls, String table, Duration callTimeout) {
		this.pool = pool;
		this.calls = calls;
		this.table = table;
		this.wait = callTimeout.dividedBy(2);
	}

	/** Returns the dialect, known after a call has reached the database. */
	Dialect dialect() {
		return Objects.requireNonNull(this.calls.knownDialect());
	}

	/**
	 * Reserves a connection of the pool.
	 * @throws LockProviderException if all of them hold locks
	 */
	Reservation reserve(Deadline deadline) {
		try {
			Reservation reservation = this.pool.reserve(deadline);
			if (reservation == null) {
				throw LockProviderException.nothingSent(LockError.STORE_TIMEOUT, SqlErrors.PROVIDER,
						"has no connection for another row lock: all " + this.pool.size()
								+ " are in use; raise distributed-lock.jdbc.pool.row-lock-size, or hold fewer locks",
						null);
			}
			return reservation;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, SqlErrors.PROVIDER,
					"had no connection for a row lock before the thread was interrupted", ex);
		}
	}

	/**
	 * Whether an attempt may wait in the queue of the database: the wait fits into the
	 * time of the call, and ends long before the lease would, which counts from before
	 * it.
	 */
	boolean canWait(Duration lease, Duration timeout) {
		return timeout.compareTo(this.wait.plus(MARGIN)) >= 0 && lease.compareTo(this.wait.multipliedBy(3)) >= 0;
	}

	/**
	 * Locks a row.
	 * @param key the key of the row to lock
	 * @param reservation the reservation of the attempt, which the connection keeps until
	 * it is back, also if the attempt ends sooner
	 * @return the locked row, whose connection is kept; {@code null} if another
	 * transaction has locked it
	 * @throws LockProviderException if the database could not answer; the row is not
	 * locked, or its session is being ended
	 */
	@Nullable LockedRow lock(String key, RowWait wait, Duration timeout, Reservation reservation) {
		if (wait == RowWait.NONE || !this.pool.beginWait()) {
			return call(key, RowWait.NONE, timeout, reservation);
		}
		try {
			return call(key, RowWait.QUEUE, timeout, reservation);
		}
		finally {
			this.pool.endWait();
		}
	}

	private @Nullable LockedRow call(String key, RowWait wait, Duration timeout, Reservation reservation) {
		AtomicReference<@Nullable Connection> kept = new AtomicReference<>();
		SqlCall<@Nullable LockedRow> call = (connection, dialect) -> {
			if (!this.pool.use(connection, reservation)) {
				throw new SQLException("The attempt has ended before its call began");
			}
			return lock(connection, dialect, key, wait, kept);
		};
		SqlCall.Compensation<@Nullable LockedRow> compensation = (connection, dialect, row) -> {
			if (row != null) {
				// First, so that the pool gets it back even if the end fails.
				this.pool.unkeep(connection);
				dialect.rowLocks().end(connection);
			}
		};
		try {
			return (wait == RowWait.QUEUE) ? this.calls.poll(timeout, call, compensation)
					: this.calls.execute(CallKind.ACQUIRE, timeout, call, compensation);
		}
		catch (SQLException ex) {
			discard(kept.get());
			throw SqlErrors.translate(ex, this.table, this.calls.knownDialect());
		}
		catch (LockException ex) {
			discard(kept.get());
			throw ex;
		}
	}

	/** Discards a connection whose call has failed after it had locked the row. */
	private void discard(@Nullable Connection connection) {
		if (connection != null) {
			this.pool.discard(connection);
		}
	}

	private @Nullable LockedRow lock(Connection connection, Dialect dialect, String key, RowWait wait,
			AtomicReference<@Nullable Connection> kept) throws SQLException {
		RowLockStatements statements = dialect.rowLocks();
		connection.setAutoCommit(false);
		try {
			Long session = statements.lock(connection, key, wait, this.wait);
			if (session == null) {
				connection.rollback();
				insert(connection, statements, key);
				session = statements.lock(connection, key, wait, this.wait);
			}
			if (session != null) {
				this.pool.keep(connection);
				kept.set(connection);
				return new LockedRow(connection, session);
			}
		}
		catch (SQLException ex) {
			if (!SqlErrors.isHeldByAnother(ex)) {
				endAfter(ex, statements, connection);
				throw ex;
			}
			logger.trace("The row is locked by another transaction", ex);
		}
		statements.end(connection);
		return null;
	}

	/** Inserts a row, unless another process has done so meanwhile. */
	private static void insert(Connection connection, RowLockStatements statements, String key) throws SQLException {
		try {
			statements.insert(connection, key);
		}
		catch (SQLException ex) {
			connection.rollback();
			if (!SqlErrors.isDuplicateKey(ex)) {
				throw ex;
			}
		}
	}

	private static void endAfter(SQLException failure, RowLockStatements statements, Connection connection) {
		try {
			statements.end(connection);
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Row that is locked.
	 *
	 * @param connection the connection that holds the lock
	 * @param session the id of its session
	 */
	record LockedRow(Connection connection, long session) {
	}

}
