package io.distributedlock.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.provider.LockThreads;

/**
 * The background steps after reservations, run by one thread: one step for each
 * reservation that this process made while further processes were in the wait queue, and
 * one for each reservation for this process that it does not use.
 */
final class ReservationMonitor implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(ReservationMonitor.class);

	/** The reservation, and some time by which the clocks may differ. */
	private static final long RESERVATION_MILLIS = RedisLayout.RESERVATION.toMillis() + 5;

	/** Further reservations are left to the waiters, which attempt once a second. */
	private static final int CAPACITY = 1_000;

	private final ScheduledThreadPoolExecutor thread;

	private final Set<String> scheduled = ConcurrentHashMap.newKeySet();

	ReservationMonitor() {
		this.thread = new ScheduledThreadPoolExecutor(1, LockThreads.factory("redis-reservation"));
		this.thread.setKeepAliveTime(10, TimeUnit.SECONDS);
		this.thread.allowCoreThreadTimeOut(true);
		this.thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Runs a step once a reservation made now has ended. At most one step per lock is
	 * scheduled, however many reservations are made meanwhile.
	 */
	void runAfterReservation(String lockName, Runnable step) {
		if (this.scheduled.size() < CAPACITY && this.scheduled.add(lockName)) {
			schedule(lockName, RESERVATION_MILLIS, () -> {
				this.scheduled.remove(lockName);
				step.run();
			});
		}
	}

	/** Runs a step as soon as the thread is idle. */
	void runNow(String lockName, Runnable step) {
		if (this.thread.getQueue().size() < 2 * CAPACITY) {
			schedule(lockName, 0, step);
		}
	}

	private void schedule(String lockName, long delayMillis, Runnable step) {
		try {
			this.thread.schedule(step, delayMillis, TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("The reservation of '" + lockName + "' expires by itself", ex);
		}
	}

	@Override
	public void close() {
		this.thread.shutdown();
	}

}
