package io.distributedlock.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * Daemon thread with a result.
 *
 * @param <T> the result
 */
final class TestThread<T> {

	private final FutureTask<T> task;

	private final Thread thread;

	private TestThread(Callable<T> work) {
		this.task = new FutureTask<>(work);
		this.thread = new Thread(this.task, "test-thread");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	static <T> TestThread<T> start(Callable<T> work) {
		return new TestThread<>(work);
	}

	/** Waits for a time during which no condition can be awaited. */
	static void pass(Duration time) {
		try {
			new CountDownLatch(1).await(time.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	void interrupt() {
		this.thread.interrupt();
	}

	boolean isWaiting() {
		return this.thread.getState() == Thread.State.TIMED_WAITING || this.thread.getState() == Thread.State.WAITING;
	}

	boolean isDone() {
		return this.task.isDone();
	}

	/** Waits for the result without a limit of its own. */
	T result() throws Exception {
		try {
			return this.task.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof Exception cause) {
				throw cause;
			}
			throw new AssertionError(ex.getCause());
		}
	}

}
