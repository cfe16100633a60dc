package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A queue of deadlines on one daemon thread. The tasks of the timer that engine and
 * stores share do not block: they may send a command without waiting for it, and call
 * observers, but run no other code of the application.
 *
 * @since 0.1.0
 */
public final class LockTimer implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockTimer.class);

	private final ScheduledThreadPoolExecutor executor;

	/** Creates a timer. Its thread starts with the first deadline. */
	public LockTimer() {
		this("timer");
	}

	/**
	 * Creates a timer of one store: tasks that wait for replies, as with a client that
	 * blocks, delay no others.
	 * @param thread the name of its thread, after the prefix of the library
	 */
	public LockTimer(String thread) {
		this.executor = new ScheduledThreadPoolExecutor(1, LockThreads.factory(thread));
		this.executor.setRemoveOnCancelPolicy(true);
		this.executor.setKeepAliveTime(10, TimeUnit.SECONDS);
		this.executor.allowCoreThreadTimeOut(true);
		this.executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Runs a signal after a delay.
	 * @param signal what to run; quick, without I/O
	 * @param delay the delay, at once if not positive
	 * @return the pending signal, to cancel it
	 * @throws RejectedExecutionException after {@link #close()}
	 */
	public Future<?> schedule(Runnable signal, Duration delay) {
		// Fails without a thread before the signal is queued: it would run one day.
		this.executor.prestartCoreThread();
		return this.executor.schedule(() -> run(signal), delay.toNanos(), TimeUnit.NANOSECONDS);
	}

	/**
	 * Runs a signal after a delay, unless the timer was closed before: it ends with the
	 * application, which needs no further signal.
	 * @param signal what to run; quick, without I/O
	 * @param delayNanos the delay in nanoseconds, at once if not positive
	 * @return the action that cancels the signal
	 */
	public Runnable scheduleIfOpen(Runnable signal, long delayNanos) {
		try {
			Future<?> pending = schedule(signal, Duration.ofNanos(delayNanos));
			return () -> pending.cancel(false);
		}
		catch (RejectedExecutionException ex) {
			return () -> {
			};
		}
	}

	/**
	 * Runs a task after a delay, if it can.
	 * @param task what to run
	 * @param delayNanos the delay in nanoseconds, at once if not positive
	 * @return the pending task, or {@code null} if it never runs: the timer is closed or
	 * has no thread
	 */
	public @Nullable Future<?> trySchedule(Runnable task, long delayNanos) {
		AtomicBoolean refused = new AtomicBoolean();
		try {
			return schedule(() -> {
				if (!refused.get()) {
					task.run();
				}
			}, Duration.ofNanos(delayNanos));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// The thread may end before its task is queued, and stay the last one.
			refused.set(true);
			logger.debug("The timer is closed or has no thread", ex);
			return null;
		}
	}

	/** Returns the number of pending tasks. */
	public int size() {
		return this.executor.getQueue().size();
	}

	/** Nobody asks the future of a signal how it has ended. */
	private static void run(Runnable signal) {
		try {
			signal.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A task of the timer failed", ex);
		}
	}

	/** Drops all pending tasks, and ends the thread after the present one. */
	@Override
	public void close() {
		this.executor.shutdown();
		this.executor.getQueue().clear();
	}

}
