package io.distributedlock.support;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes the library's threads: daemons, named {@code distributed-lock-…}, started with
 * the first need and ended when idle.
 */
final class LockThreads {

	private LockThreads() {
	}

	static ThreadFactory factory(String role) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, "distributed-lock-" + role + "-" + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

	static ThreadPoolExecutor pool(String role, int threads) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), factory(role));
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

}
