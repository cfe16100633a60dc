package io.distributedlock.provider;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The factory of the library's threads: daemons, named {@code distributed-lock-…}, which
 * start when they are needed and end when they are idle.
 *
 * @since 0.1.0
 */
public final class LockThreads {

	private LockThreads() {
	}

	/**
	 * Creates a factory of daemon threads.
	 * @param role what the threads do, part of their names
	 * @return the factory
	 */
	public static ThreadFactory factory(String role) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			// It outlives the caller, whose inheritable thread-locals are not its own.
			Thread thread = new Thread(null, task, "distributed-lock-" + role + "-" + number.incrementAndGet(), 0,
					false);
			thread.setDaemon(true);
			thread.setContextClassLoader(LockThreads.class.getClassLoader());
			return thread;
		};
	}

	/**
	 * Creates a pool with an unbounded queue, whose threads end when idle.
	 * @param role what the threads do, part of their names
	 * @param threads the most threads at a time
	 * @return the pool
	 */
	public static ThreadPoolExecutor pool(String role, int threads) {
		ThreadPoolExecutor pool = new Pool(threads, factory(role));
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/**
	 * A pool that leaves a task to its present threads if no further one can be started.
	 */
	private static final class Pool extends ThreadPoolExecutor {

		private Pool(int threads, ThreadFactory factory) {
			super(threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
		}

		@Override
		public void execute(Runnable task) {
			try {
				super.execute(task);
			}
			catch (OutOfMemoryError ex) {
				if (!enqueue(task)) {
					throw ex;
				}
			}
		}

		private boolean enqueue(Runnable task) {
			return getPoolSize() > 0 && !isShutdown() && getQueue().offer(task)
			// The last thread may have ended meanwhile.
					&& (getPoolSize() > 0 || !getQueue().remove(task));
		}

	}

}
