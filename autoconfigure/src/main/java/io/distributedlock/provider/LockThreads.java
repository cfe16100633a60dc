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
			Thread thread = new Thread(task, "distributed-lock-" + role + "-" + number.incrementAndGet());
			thread.setDaemon(true);
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
		ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), factory(role));
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

}
