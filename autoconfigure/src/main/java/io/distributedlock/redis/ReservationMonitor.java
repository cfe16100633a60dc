package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.LockThreads;

/**
 * Looks after reservations: those that this process made for another one and that had
 * better be used, for more processes stand in line, and those made for this process when
 * nobody in it waits any more.
 */
final class ReservationMonitor implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(ReservationMonitor.class);

	/** How long a reservation counts, and what the next look may come too early by. */
	private static final long GRACE = 105;

	/** What is beyond is left to those who wait, each of whom looks once a second. */
	private static final int CAPACITY = 1_000;

	private final ScheduledThreadPoolExecutor thread;

	private final Set<String> watched = ConcurrentHashMap.newKeySet();

	ReservationMonitor() {
		this.thread = new ScheduledThreadPoolExecutor(1, LockThreads.factory("redis-pass-on"));
		this.thread.setKeepAliveTime(10, TimeUnit.SECONDS);
		this.thread.allowCoreThreadTimeOut(true);
		this.thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * A lock was reserved for another process, and others wait behind it. However often
	 * that happens, one look per lock and grace is enough.
	 * @param passOn passes the lock on if the reservation has lapsed
	 */
	void made(RedisLockKeys names, Consumer<RedisLockKeys> passOn) {
		if (this.watched.size() < CAPACITY && this.watched.add(names.text())) {
			submit(names.text(), GRACE, () -> {
				this.watched.remove(names.text());
				passOn.accept(names);
			});
		}
	}

	/** A lock was reserved for this process, in which nobody waits for it. */
	void unwanted(String lock, Runnable withdraw) {
		if (this.thread.getQueue().size() < 2 * CAPACITY) {
			submit(lock, 0, withdraw);
		}
	}

	private void submit(String lock, long millis, Runnable action) {
		try {
			this.thread.schedule(action, millis, TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("The reservation of '" + lock + "' is left to lapse", ex);
		}
	}

	@Override
	public void close() {
		this.thread.shutdown();
	}

}
