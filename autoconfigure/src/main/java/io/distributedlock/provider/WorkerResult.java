package io.distributedlock.provider;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What a worker finds out for a caller that does not wait for ever: worker and caller
 * race for one state, so that either the caller has the result or the worker knows that
 * the caller has left.
 *
 * @param <T> what is found out
 * @since 0.1.0
 */
public final class WorkerResult<T extends @Nullable Object> {

	private static final Log logger = LogFactory.getLog(WorkerResult.class);

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private final CountDownLatch done = new CountDownLatch(1);

	private volatile @Nullable T value;

	private volatile @Nullable Throwable failure;

	/**
	 * Whether the caller has left without a result.
	 * @return whether it has left
	 */
	public boolean isAbandoned() {
		return this.state.get() == State.ABANDONED;
	}

	/**
	 * Hands the result over.
	 * @param found the result
	 * @return {@code false} if the caller has left
	 */
	public boolean complete(T found) {
		this.value = found;
		return end();
	}

	/**
	 * Hands a failure over, or logs it if the caller has left or has the result already.
	 * Called by the worker alone, as {@link #complete} is.
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
	 * Waits for the end.
	 * @param deadline until when, as {@link System#nanoTime()} counts
	 * @param interruptible whether an interrupt ends the wait
	 * @return whether there is a result or a failure; if not, the call is abandoned
	 * @throws InterruptedException if interruptible and the thread was interrupted; the
	 * call is abandoned
	 */
	public boolean await(long deadline, boolean interruptible) throws InterruptedException {
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

	/**
	 * The failure, once the wait has ended with one.
	 * @return the failure, or {@code null}
	 */
	public @Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * The result, once the wait has ended without a failure.
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
