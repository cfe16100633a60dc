package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;

/**
 * A pool for callbacks. If a callback waits for a thread for a second, a warning names
 * what the threads are doing: once until none waits any more.
 */
final class CallbackPool implements Executor {

	private static final Log logger = LogFactory.getLog(CallbackPool.class);

	private static final Duration PATIENCE = Duration.ofSeconds(1);

	/** How much of a stack tells what blocks a thread, from the application's code on. */
	private static final int FRAMES = 10;

	private final String role;

	private final LockTimer timer;

	private final ThreadPoolExecutor pool;

	/** The threads that run a callback now. */
	private final Set<Thread> occupied = ConcurrentHashMap.newKeySet();

	/** Whether a check of the queue is scheduled. */
	private final AtomicBoolean watching = new AtomicBoolean();

	private volatile boolean warned;

	CallbackPool(String role, int threads, LockTimer timer) {
		this.role = role;
		this.timer = timer;
		this.pool = LockThreads.pool(role, threads);
	}

	@Override
	public void execute(Runnable callback) {
		this.pool.execute(new Callback(callback, System.nanoTime(), this.occupied));
		if (!this.pool.getQueue().isEmpty()) {
			scheduleCheck();
		}
	}

	/** Ends each thread as soon as it is idle. */
	void endIdleThreads() {
		this.pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
	}

	private void scheduleCheck() {
		if (this.watching.compareAndSet(false, true)
				&& this.timer.trySchedule(this::check, PATIENCE.toNanos()) == null) {
			// Without the timer there are no warnings.
			this.watching.set(false);
		}
	}

	private void check() {
		this.watching.set(false);
		if (this.pool.getQueue().peek() instanceof Callback oldest) {
			long waited = System.nanoTime() - oldest.sinceNanos;
			if (waited >= PATIENCE.toNanos() && !this.warned) {
				this.warned = true;
				logger.warn("A callback of a lock has waited for " + TimeUnit.NANOSECONDS.toMillis(waited)
						+ " ms, because all " + this.pool.getMaximumPoolSize() + " threads 'distributed-lock-"
						+ this.role + "' are occupied. Callbacks should be short: " + occupants());
			}
			scheduleCheck();
		}
		else {
			this.warned = false;
		}
	}

	private String occupants() {
		return this.occupied.stream().map(CallbackPool::describe).collect(Collectors.joining());
	}

	private static String describe(Thread thread) {
		StringBuilder text = new StringBuilder("\n").append(thread.getName());
		Arrays.stream(thread.getStackTrace())
			.dropWhile((frame) -> frame.getClassName().startsWith("java.") || frame.getClassName().startsWith("jdk."))
			.limit(FRAMES)
			.forEach((frame) -> text.append("\n\tat ").append(frame));
		return text.toString();
	}

	/**
	 * A callback that waits for a thread, or has one.
	 *
	 * @param sinceNanos since when it waits, by the nano time
	 * @param occupied the threads that run a callback
	 */
	private record Callback(Runnable action, long sinceNanos, Set<Thread> occupied) implements Runnable {

		@Override
		public void run() {
			Thread thread = Thread.currentThread();
			this.occupied.add(thread);
			try {
				this.action.run();
			}
			finally {
				this.occupied.remove(thread);
			}
		}

	}

}
