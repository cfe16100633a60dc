package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.connection.SqlCall.Compensation;
import io.distributedlock.jdbc.dialect.DatabaseKind;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.jdbc.dialect.SqlErrors;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CallWatchdog;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Executor of calls that end within their time-out whatever the database does. A call
 * runs in its caller's thread, and the watchdog aborts its connection. Where the driver
 * does not support that (H2), or where a connection may have to be opened or asked first,
 * the call runs on one of a few workers, and the caller abandons it after the time-out.
 * Safe for use by many threads.
 */
public final class SqlCallExecutor implements AutoCloseable {

	/** The time for an abort to end a call, before the bound of reads ends it. */
	private static final long ABORT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final int MIN_ACQUIRERS = 3;

	private final ConnectionSource connections;

	private final String table;

	private final ConnectionPermits permits;

	/**
	 * Have a thread for each connection that attempts may use, and two for renewals, so
	 * that one whose answer is lost does not block the next.
	 */
	private final Map<CallKind, ExecutorService> workers;

	/** Has several threads, because an abort waits for a database that hangs. */
	private final ExecutorService aborters = LockThreads.pool("jdbc-abort", 4);

	private final CallWatchdog watchdog;

	private volatile @Nullable Dialect dialect;

	private volatile long lastSuccessNanos = System.nanoTime() - SessionDataSource.TRUSTED_NANOS;

	public SqlCallExecutor(ConnectionSource connections, String table, LockTimer timer) {
		this.connections = connections;
		this.table = table;
		this.workers = Map.of(CallKind.ACQUIRE,
				LockThreads.pool("jdbc-call", Math.max(MIN_ACQUIRERS, connections.size() - 2)), CallKind.RELEASE,
				LockThreads.pool("jdbc-release", 2), CallKind.RENEWAL, LockThreads.pool("jdbc-renewal", 2));
		this.permits = ConnectionPermits.of(connections.size(), connections.sizedBy());
		this.watchdog = new CallWatchdog(timer, this.aborters);
	}

	public <T extends @Nullable Object> T execute(CallKind kind, Duration timeout, SqlCall<T> call)
			throws SQLException {
		return execute(kind, timeout, call, (connection, usedDialect, result) -> {
		});
	}

	/**
	 * Executes a call.
	 * @param compensation compensates for a call that the caller has abandoned
	 * @throws SQLException if the database answered with an error
	 * @throws LockProviderException if it did not answer within the time-out, if no
	 * connection was available, or if an interrupt ended the call
	 */
	public <T extends @Nullable Object> T execute(CallKind kind, Duration timeout, SqlCall<T> call,
			Compensation<T> compensation) throws SQLException {
		return execute(kind, timeout, call, compensation, Route.CALLER_IF_WARM);
	}

	/**
	 * Executes a poll. Where an abort takes long, the call of a thread that waits anyway
	 * runs on a worker, which the thread leaves at once if it is interrupted.
	 */
	public <T extends @Nullable Object> T poll(Duration timeout, SqlCall<T> call, Compensation<T> compensation)
			throws SQLException {
		Dialect known = this.dialect;
		return execute(CallKind.ACQUIRE, timeout, call, compensation,
				(known != null && !known.abortsAtOnce()) ? Route.WORKER : Route.CALLER_IF_WARM);
	}

	private <T extends @Nullable Object> T execute(CallKind kind, Duration timeout, SqlCall<T> plain,
			Compensation<T> compensation, Route route) throws SQLException {
		Deadline deadline = Deadline.after(timeout);
		WorkerCall<T> call = new WorkerCall<>(plain, compensation);
		try {
			if (!this.permits.tryAcquire(kind, deadline)) {
				throw noConnection(
						"had none of its " + this.connections.size() + " connections free within " + timeout.toMillis()
								+ " ms (distributed-lock.call-timeout); their number is " + this.connections.sizedBy());
			}
			Dialect known = this.dialect;
			if (route == Route.CALLER_IF_WARM && known != null && known.isAbortable() && mayRunInCaller(deadline)) {
				try {
					return run(kind, deadline, call);
				}
				finally {
					this.permits.release(kind);
				}
			}
			return runOnWorker(kind, deadline, timeout, call);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw interrupted(ex);
		}
	}

	/**
	 * Whether the pool probably has a connection at once that it need not ask, and in any
	 * case answers before the deadline.
	 */
	private boolean mayRunInCaller(Deadline deadline) {
		return System.nanoTime() - this.lastSuccessNanos < SessionDataSource.TRUSTED_NANOS
				&& this.connections.canBorrowBefore(deadline);
	}

	private <T extends @Nullable Object> T runOnWorker(CallKind kind, Deadline deadline, Duration timeout,
			WorkerCall<T> call) throws SQLException, InterruptedException {
		try {
			Objects.requireNonNull(this.workers.get(kind)).execute(() -> work(kind, deadline, call));
		}
		catch (RejectedExecutionException ex) {
			this.permits.release(kind);
			throw LockProviderException.nothingSent(LockError.SHUTTING_DOWN, SqlErrors.PROVIDER, "is closed", ex);
		}
		catch (OutOfMemoryError ex) {
			this.permits.release(kind);
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, SqlErrors.PROVIDER,
					"could not be called: " + ex.getMessage(), ex);
		}
		boolean ended;
		try {
			ended = call.await(deadline, kind);
		}
		catch (InterruptedException ex) {
			// A call that no worker has begun must not run after its caller has left.
			call.claim();
			throw ex;
		}
		if (!ended) {
			if (call.claim()) {
				throw noConnection("had no free thread for the call within " + timeout.toMillis()
						+ " ms (distributed-lock.call-timeout)");
			}
			throw timedOut("did not answer within " + timeout.toMillis() + " ms (distributed-lock.call-timeout)", null);
		}
		return call.result();
	}

	private void work(CallKind kind, Deadline deadline, WorkerCall<?> call) {
		try {
			if (call.claim()) {
				run(kind, deadline, call);
			}
		}
		catch (SQLException | RuntimeException | Error ex) {
			call.fail(ex);
		}
		finally {
			this.permits.release(kind);
		}
	}

	private <T extends @Nullable Object> T run(CallKind kind, Deadline deadline, SqlCall<T> call) throws SQLException {
		Connection connection = this.connections.borrow(deadline);
		boolean usable = true;
		try {
			Dialect used = dialect(connection, deadline);
			long leftNanos = deadline.remainingNanos();
			if (leftNanos <= 0) {
				throw noConnection("had no usable connection in time (distributed-lock.call-timeout)");
			}
			int readMillis = (int) Math.min(TimeUnit.NANOSECONDS.toMillis(leftNanos + ABORT_NANOS), Integer.MAX_VALUE);
			if (!used.isAbortable()) {
				return this.connections.run(connection, used, readMillis, call);
			}
			CallWatchdog.Call watched = this.watchdog.begin(deadline, kind.interruptible(), () -> {
				distrust();
				this.connections.abort(connection);
			});
			SQLException failure = null;
			try {
				T result = this.connections.run(connection, used, readMillis, call);
				this.lastSuccessNanos = System.nanoTime();
				return result;
			}
			catch (SQLException ex) {
				failure = ex;
				throw ex;
			}
			finally {
				usable = watched.end();
				if (!usable && failure != null) {
					failBecauseAborted(kind, failure);
				}
			}
		}
		catch (SQLException ex) {
			if (usable && (SqlErrors.isConnectionLost(ex) || SqlErrors.isReadOnly(ex))) {
				usable = false;
				distrust();
				this.connections.discard(connection);
			}
			if (SqlErrors.isReadOnly(ex)) {
				this.connections.replaceConnections();
			}
			throw ex;
		}
		finally {
			if (usable) {
				this.connections.close(connection);
			}
		}
	}

	/** Lets the next calls run on workers, as the pool asks other connections first. */
	private void distrust() {
		this.lastSuccessNanos = System.nanoTime() - SessionDataSource.TRUSTED_NANOS;
	}

	private static void failBecauseAborted(CallKind kind, SQLException failure) {
		throw (kind.interruptible() && Thread.currentThread().isInterrupted()) ? interrupted(failure)
				: timedOut("did not answer in time (distributed-lock.call-timeout)", failure);
	}

	/** Resolves the dialect with the first connection, by a statement in some drivers. */
	private Dialect dialect(Connection connection, Deadline deadline) throws SQLException {
		Dialect known = this.dialect;
		if (known == null) {
			// Hikari closes a connection whose driver has no bound of reads.
			boolean asked = DatabaseKind.isAsked(DatabaseKind.requireProduct(connection));
			long leftMillis = Math.max(TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()), 1);
			int found = asked ? SessionDataSource.boundReads(connection, (int) Math.min(leftMillis, Integer.MAX_VALUE))
					: 0;
			try {
				known = DatabaseKind.of(connection).dialect(this.table);
				if (!connection.getAutoCommit()) {
					connection.rollback();
				}
			}
			finally {
				if (asked && !connection.isClosed()) {
					SessionDataSource.boundReads(connection, found);
				}
			}
			this.dialect = known;
		}
		return known;
	}

	public @Nullable Dialect knownDialect() {
		return this.dialect;
	}

	private static LockProviderException noConnection(String problem) {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, SqlErrors.PROVIDER, problem, null);
	}

	private static LockProviderException timedOut(String problem, @Nullable Throwable cause) {
		return new LockProviderException(LockError.STORE_TIMEOUT, SqlErrors.PROVIDER, problem, cause);
	}

	private static LockProviderException interrupted(Throwable cause) {
		return new LockProviderException(LockError.STORE_FAILED, SqlErrors.PROVIDER,
				"did not answer before the thread was interrupted", cause);
	}

	/** Rejects further calls. Calls under way end by themselves, without an interrupt. */
	@Override
	public void close() {
		this.workers.values().forEach(ExecutorService::shutdown);
		this.aborters.shutdown();
	}

	/** Thread that executes a call. */
	private enum Route {

		/** The caller's thread if a connection is at hand, else a worker. */
		CALLER_IF_WARM,

		/** A worker, which the caller can leave. */
		WORKER

	}

}
