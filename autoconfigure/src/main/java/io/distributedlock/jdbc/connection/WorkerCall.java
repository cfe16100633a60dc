package io.distributedlock.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.connection.SqlCall.Compensation;
import io.distributedlock.jdbc.dialect.Dialect;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.WorkerResult;

/**
 * Call on a worker thread, which the caller can abandon. The worker then compensates for
 * what the call did. It is never interrupted, because H2 closes its database file when a
 * thread is interrupted.
 *
 * @param <T> the result
 */
final class WorkerCall<T extends @Nullable Object> implements SqlCall<T> {

	private final SqlCall<T> call;

	private final Compensation<T> compensation;

	private final WorkerResult<T> outcome = new WorkerResult<>();

	private final AtomicBoolean claimed = new AtomicBoolean();

	WorkerCall(SqlCall<T> call, Compensation<T> compensation) {
		this.call = call;
		this.compensation = compensation;
	}

	/**
	 * Claims the call, for the worker that runs it or for a caller that has left before a
	 * worker came to it.
	 * @return whether nobody had claimed it
	 */
	boolean claim() {
		return this.claimed.compareAndSet(false, true);
	}

	@Override
	public T run(Connection connection, Dialect dialect) throws SQLException {
		T result = this.call.run(connection, dialect);
		if (!this.outcome.complete(result)) {
			this.compensation.run(connection, dialect, result);
		}
		return result;
	}

	void fail(Throwable ex) {
		this.outcome.fail(ex);
	}

	/**
	 * Waits until the call has ended.
	 * @param deadline the end of the wait
	 * @param kind the purpose of the call, which decides whether an interrupt ends the
	 * wait
	 * @return whether the call has ended; if not, it is abandoned
	 * @throws InterruptedException if interruptible and the thread was interrupted; the
	 * call is abandoned
	 */
	boolean await(Deadline deadline, CallKind kind) throws InterruptedException {
		return this.outcome.await(deadline, kind);
	}

	/** Returns the result of a call that has ended, or throws its failure. */
	T result() throws SQLException {
		Throwable ex = this.outcome.failure();
		if (ex instanceof SQLException failure) {
			throw failure;
		}
		if (ex instanceof RuntimeException failure) {
			throw failure;
		}
		if (ex instanceof Error failure) {
			throw failure;
		}
		return this.outcome.value();
	}

}
