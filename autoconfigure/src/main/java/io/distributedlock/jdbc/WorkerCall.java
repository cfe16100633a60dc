package io.distributedlock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.jdbc.SqlCall.Undo;

/**
 * A call that runs on a worker because nothing can end it from outside: who waits for it
 * may leave, and what it then still does is undone by the worker. The worker is never
 * interrupted: H2 closes its database file when that happens.
 */
final class WorkerCall<T extends @Nullable Object> implements SqlCall<T> {

	private static final Log logger = LogFactory.getLog(WorkerCall.class);

	private final SqlCall<T> call;

	private final Undo<T> undo;

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private final CountDownLatch done = new CountDownLatch(1);

	private volatile @Nullable T result;

	private volatile @Nullable Exception failure;

	WorkerCall(SqlCall<T> call, Undo<T> undo) {
		this.call = call;
		this.undo = undo;
	}

	boolean isAbandoned() {
		return this.state.get() == State.ABANDONED;
	}

	@Override
	public T run(Connection connection, Dialect dialect) throws SQLException {
		T found = this.call.run(connection, dialect);
		this.result = found;
		if (this.state.compareAndSet(State.OPEN, State.DONE)) {
			this.done.countDown();
		}
		else {
			this.undo.run(connection, dialect, found);
		}
		return found;
	}

	void fail(Exception ex) {
		this.failure = ex;
		if (this.state.compareAndSet(State.OPEN, State.DONE)) {
			this.done.countDown();
		}
		else {
			logger.debug("A call failed after its caller had left", ex);
		}
	}

	/**
	 * Waits for the end.
	 * @return whether the call has ended; if not, it is abandoned
	 * @throws InterruptedException if interruptible and the thread was interrupted; the
	 * call is abandoned
	 */
	boolean await(long deadline, boolean interruptible) throws InterruptedException {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return this.done.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS) || !abandon();
				}
				catch (InterruptedException ex) {
					if (!interruptible) {
						interrupted = true;
					}
					else if (abandon()) {
						throw ex;
					}
					else {
						interrupted = true;
						return true;
					}
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private boolean abandon() {
		return this.state.compareAndSet(State.OPEN, State.ABANDONED);
	}

	@SuppressWarnings("NullAway") // the result is as nullable as T says
	T result() throws SQLException {
		Exception ex = this.failure;
		if (ex instanceof SQLException failed) {
			throw failed;
		}
		if (ex instanceof RuntimeException failed) {
			throw failed;
		}
		return this.result;
	}

	private enum State {

		OPEN, DONE, ABANDONED

	}

}
