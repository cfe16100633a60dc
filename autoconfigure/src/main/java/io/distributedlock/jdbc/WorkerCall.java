package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.SqlCall.Undo;
import io.distributedlock.provider.WorkerResult;

/**
 * A call that runs on a worker because nothing can end it from outside: who waits for it
 * may leave, and what it then still does is undone by the worker. The worker is never
 * interrupted: H2 closes its database file when that happens.
 */
final class WorkerCall<T extends @Nullable Object> implements SqlCall<T> {

	private final SqlCall<T> call;

	private final Undo<T> undo;

	private final WorkerResult<T> end = new WorkerResult<>();

	WorkerCall(SqlCall<T> call, Undo<T> undo) {
		this.call = call;
		this.undo = undo;
	}

	boolean isAbandoned() {
		return this.end.isAbandoned();
	}

	@Override
	public T run(Connection connection, Dialect dialect) throws SQLException {
		T found = this.call.run(connection, dialect);
		if (!this.end.complete(found)) {
			this.undo.run(connection, dialect, found);
		}
		return found;
	}

	void fail(Throwable ex) {
		this.end.fail(ex);
	}

	/**
	 * Waits for the end.
	 * @return whether the call has ended; if not, it is abandoned
	 * @throws InterruptedException if interruptible and the thread was interrupted; the
	 * call is abandoned
	 */
	boolean await(long deadline, boolean interruptible) throws InterruptedException {
		return this.end.await(deadline, interruptible);
	}

	T result() throws SQLException {
		Throwable ex = this.end.failure();
		if (ex instanceof SQLException failed) {
			throw failed;
		}
		if (ex instanceof RuntimeException failed) {
			throw failed;
		}
		if (ex instanceof Error failed) {
			throw failed;
		}
		return this.end.value();
	}

}
