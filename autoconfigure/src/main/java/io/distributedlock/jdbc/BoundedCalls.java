package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.jdbc.SqlCall.Undo;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.CallWatchdog;
import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * Runs calls that end in time whatever the database does. On the hot path a call stays in
 * its caller's thread and the watchdog aborts its connection from outside; where the
 * driver ignores that (H2), or where a connection may first have to be opened, it runs on
 * one of a few workers and the caller waits no longer than it may.
 */
final class BoundedCalls implements AutoCloseable {

	/**
	 * Hikari tests connections that were idle for longer than half a second: a round trip
	 * of its own.
	 */
	private static final long WARM = TimeUnit.MILLISECONDS.toNanos(400);

	/** What an abort is given to end a call, before the connection's own bound does. */
	private static final long ABORT_TIME = TimeUnit.MILLISECONDS.toNanos(100);

	private final LockDataSource dataSource;

	private final String table;

	private final Permits permits;

	private final ExecutorService acquirers = LockThreads.pool("jdbc-call", 3);

	private final ExecutorService releasers = LockThreads.pool("jdbc-release", 2);

	/**
	 * Two, so that a renewal whose answer is lost does not keep the next from being sent.
	 */
	private final ExecutorService renewer = LockThreads.pool("jdbc-renewal", 2);

	/** Several, because an abort may have to wait for a database that does not answer. */
	private final ExecutorService aborter = LockThreads.pool("jdbc-abort", 4);

	private final CallWatchdog watchdog;

	private volatile @Nullable Dialect dialect;

	private volatile long lastSuccess = System.nanoTime() - 2 * WARM;

	BoundedCalls(LockDataSource dataSource, String table, LockTimer timer) {
		this.dataSource = dataSource;
		this.table = table;
		this.permits = new Permits(dataSource.size());
		this.watchdog = new CallWatchdog(timer, this.aborter);
	}

	<T extends @Nullable Object> T call(CallKind kind, Duration timeout, SqlCall<T> call) throws SQLException {
		return call(kind, timeout, call, (connection, usedDialect, result) -> {
		});
	}

	/**
	 * Makes a call.
	 * @param undo what to do with a result that comes after the caller has left
	 * @throws SQLException if the database answered with an error
	 * @throws LockProviderException if it did not answer in time, if no connection was to
	 * be had, or if an interrupt ended the call
	 */
	<T extends @Nullable Object> T call(CallKind kind, Duration timeout, SqlCall<T> call, Undo<T> undo)
			throws SQLException {
		long deadline = System.nanoTime() + timeout.toNanos();
		try {
			if (!this.permits.take(kind, timeout)) {
				throw noConnection("had no connection free within " + timeout.toMillis() + " ms");
			}
			Dialect known = this.dialect;
			if (known != null && known.abortable() && mayStayInThread(deadline)) {
				try {
					return run(kind, deadline, call);
				}
				finally {
					this.permits.giveBack(kind);
				}
			}
			return runOnWorker(kind, deadline, timeout, new WorkerCall<>(call, undo));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw interrupted(ex);
		}
	}

	/**
	 * Whether a connection is likely to be had at once, and in time if it is not after
	 * all.
	 */
	private boolean mayStayInThread(long deadline) {
		long now = System.nanoTime();
		return now - this.lastSuccess < WARM && this.dataSource.hasIdleConnection()
				&& deadline - now >= this.dataSource.longestBorrow().toNanos();
	}

	private <T extends @Nullable Object> T runOnWorker(CallKind kind, long deadline, Duration timeout,
			WorkerCall<T> call) throws SQLException, InterruptedException {
		try {
			executor(kind).execute(() -> work(kind, deadline, call));
		}
		catch (RejectedExecutionException ex) {
			this.permits.giveBack(kind);
			throw LockProviderException.nothingSent(LockError.SHUTTING_DOWN, SqlErrors.PROVIDER, "is closed", ex);
		}
		catch (OutOfMemoryError ex) {
			this.permits.giveBack(kind);
			throw LockProviderException.nothingSent(LockError.STORE_FAILED, SqlErrors.PROVIDER,
					"could not be called: " + ex.getMessage(), ex);
		}
		if (!call.await(deadline, kind.interruptible())) {
			throw timedOut("did not answer within " + timeout.toMillis() + " ms", null);
		}
		return call.result();
	}

	private void work(CallKind kind, long deadline, WorkerCall<?> call) {
		try {
			if (!call.isAbandoned()) {
				run(kind, deadline, call);
			}
		}
		catch (SQLException | RuntimeException | Error ex) {
			call.fail(ex);
		}
		finally {
			this.permits.giveBack(kind);
		}
	}

	private <T extends @Nullable Object> T run(CallKind kind, long deadline, SqlCall<T> call) throws SQLException {
		Connection connection = this.dataSource.borrow();
		boolean ours = true;
		try {
			Dialect used = dialect(connection);
			if (!used.abortable()) {
				return runAdapted(connection, used, call);
			}
			long left = deadline - System.nanoTime();
			if (left <= 0) {
				throw noConnection("had no connection ready in time");
			}
			CallWatchdog.Call watched = this.watchdog.begin(Duration.ofNanos(left), kind.interruptible(),
					() -> this.dataSource.discard(connection));
			SQLException failure = null;
			try {
				used.limit(connection,
						(int) Math.min(TimeUnit.NANOSECONDS.toMillis(left + ABORT_TIME), Integer.MAX_VALUE));
				T result = runAdapted(connection, used, call);
				this.lastSuccess = System.nanoTime();
				return result;
			}
			catch (SQLException ex) {
				failure = ex;
				throw ex;
			}
			finally {
				ours = watched.end();
				if (!ours && failure != null) {
					failBecauseAborted(kind, failure);
				}
			}
		}
		catch (SQLException ex) {
			if (ours && SqlErrors.isConnectionLost(ex)) {
				ours = false;
				this.dataSource.discard(connection);
			}
			throw ex;
		}
		finally {
			if (ours) {
				this.dataSource.giveBack(connection);
			}
		}
	}

	private <T extends @Nullable Object> T runAdapted(Connection connection, Dialect used, SqlCall<T> call)
			throws SQLException {
		ConnectionSettings found = this.dataSource.adapt(connection);
		try {
			return call.run(connection, used);
		}
		finally {
			this.dataSource.restore(connection, found);
		}
	}

	private static void failBecauseAborted(CallKind kind, SQLException failure) {
		throw (kind.interruptible() && Thread.currentThread().isInterrupted()) ? interrupted(failure)
				: timedOut("did not answer in time", failure);
	}

	private Dialect dialect(Connection connection) throws SQLException {
		Dialect known = this.dialect;
		if (known == null) {
			known = Dialects.find(connection, this.table);
			this.dialect = known;
		}
		return known;
	}

	@Nullable Dialect knownDialect() {
		return this.dialect;
	}

	private Executor executor(CallKind kind) {
		return switch (kind) {
			case ACQUIRE -> this.acquirers;
			case RELEASE -> this.releasers;
			case RENEWAL -> this.renewer;
		};
	}

	private static LockProviderException noConnection(String problem) {
		return LockProviderException.nothingSent(LockError.STORE_TIMEOUT, SqlErrors.PROVIDER, problem, null);
	}

	private static LockProviderException timedOut(String problem, @Nullable Throwable cause) {
		return new LockProviderException(LockError.STORE_TIMEOUT, SqlErrors.PROVIDER, problem, cause);
	}

	private static LockProviderException interrupted(Throwable cause) {
		return new LockProviderException(LockError.STORE_FAILED, SqlErrors.PROVIDER,
				"was not waited for: the thread was interrupted", cause);
	}

	/**
	 * Takes no more calls. Those under way end by themselves: no worker is interrupted.
	 */
	@Override
	public void close() {
		this.acquirers.shutdown();
		this.releasers.shutdown();
		this.renewer.shutdown();
		this.aborter.shutdown();
	}

}
