package io.distributedlock.provider;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The result of a worker for a caller that waits for a limited time. Worker and caller
 * compete for one state: either the caller receives the result, or the worker sees that
 * the caller has left.
 *
 * @param <T> the type of the result
 * @since 0.1.0
 */
public final class WorkerResult<T extends @Nullable Object> {

	private static final Log logger = LogFactory.getLog(WorkerResult.class);

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private final CountDownLatch done = new CountDownLatch(1);

	private volatile @Nullable T value;

	private volatile @Nullable Throwable failure;

	/**
	 * Returns whether the caller has left without a result.
	 * @return whether it has left
	 */
	public boolean isAbandoned() {
		return this.state.get() == State.ABANDONED;
	}

	/**
	 * Completes with a result.
	 * @param result the result
	 * @return {@code false} if the caller has left
	 */
	public boolean complete(T result) {
		this.value = result;
		return end();
	}

	/**
	 * Completes with a failure, or logs it if the caller has left or has the result
	 * already. Called by the worker only, as {@link #complete} is.
	 * @param ex the failure
	 */
	public void fail(Throwable ex) {
		if (this.state.get() == State.OPEN) {
			this.failure = ex;
			if (end()) {
				return;
			}
		}
		logger.debug("A call failed after its caller had left", ex);
	}

	private boolean end() {
		if (this.state.compareAndSet(State.OPEN, State.DONE)) {
			this.done.countDown();
			return true;
		}
		return false;
	}

	/**
	 * Waits for the result.
	 * @param deadline the end of the wait
	 * @param kind the purpose of the call, which decides whether an interrupt ends the
	 * wait
	 * @return whether there is a result or a failure; if not, the call is abandoned
	 * @throws InterruptedException if interruptible and the thread was interrupted; the
	 * call is abandoned
	 */
	public boolean await(Deadline deadline, CallKind kind) throws InterruptedException {
		try {
			return deadline.await(kind, (nanos) -> this.done.await(nanos, TimeUnit.NANOSECONDS)) || !abandon();
		}
		catch (InterruptedException ex) {
			if (abandon()) {
				throw ex;
			}
			Thread.currentThread().interrupt();
			return true;
		}
	}

	private boolean abandon() {
		return this.state.compareAndSet(State.OPEN, State.ABANDONED);
	}

	/**
	 * Returns the failure, after the wait has ended with one.
	 * @return the failure, or {@code null}
	 */
	public @Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * Returns the result, after the wait has ended without a failure.
	 * @return the result
	 */
	@SuppressWarnings("NullAway") // the value is as nullable as T says
	public T value() {
		return this.value;
	}

	private enum State {

		OPEN, DONE, ABANDONED

	}

}
