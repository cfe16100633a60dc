package io.distributedlock.redis.script;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockThreads;

/**
 * The timer of the provider, one thread. Its tasks send commands, but wait for replies
 * only with a client that blocks, whose tasks are the steps after reservations alone.
 */
public final class RedisTimer implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisTimer.class);

	private final ScheduledThreadPoolExecutor thread;

	/** Creates a timer. Its thread starts with the first task. */
	public RedisTimer() {
		this.thread = new ScheduledThreadPoolExecutor(1, LockThreads.factory("redis-timer"));
		this.thread.setRemoveOnCancelPolicy(true);
		this.thread.setKeepAliveTime(10, TimeUnit.SECONDS);
		this.thread.allowCoreThreadTimeOut(true);
		this.thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Runs a task after a delay.
	 * @param task the task
	 * @param delayNanos the delay in nanoseconds, at once if not positive
	 * @return the pending task, or {@code null} if it never runs: the timer is closed or
	 * has no thread
	 */
	public @Nullable Future<?> schedule(Runnable task, long delayNanos) {
		AtomicBoolean refused = new AtomicBoolean();
		try {
			return this.thread.schedule(() -> {
				if (!refused.get()) {
					run(task);
				}
			}, delayNanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// A task without a thread stays in the queue, and must not run later.
			refused.set(true);
			logger.debug("The timer is closed or has no thread", ex);
			return null;
		}
	}

	/** Runs a task, at whose future nobody looks. */
	private static void run(Runnable task) {
		try {
			task.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A task of the timer failed", ex);
		}
	}

	/** Returns the number of pending tasks. */
	public int size() {
		return this.thread.getQueue().size();
	}

	/** Drops all pending tasks. */
	@Override
	public void close() {
		this.thread.shutdown();
	}

}
