package io.distributedlock.support;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.distributedlock.provider.LockThreads;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;

/**
 * The environment of an application: the system's clock, the shared timer, and pools of
 * daemon threads that start when they are needed and end when they are idle.
 */
final class ThreadedEnvironment implements EngineEnvironment, AutoCloseable {

	private static final Runnable NOTHING = () -> {
	};

	private final LockTimer timer;

	/** New for each start: an image of a process may be restored more than once. */
	private final OwnerIdGenerator ownerIds = new OwnerIdGenerator();

	private final Map<Work, ThreadPoolExecutor> pools = new EnumMap<>(Work.class);

	/**
	 * Creates an environment without running threads.
	 * @param provider the name of the provider, part of the threads' names
	 * @param timer the timer, which is not closed with the environment
	 */
	ThreadedEnvironment(String provider, LockTimer timer) {
		this.timer = timer;
		this.pools.put(Work.ATTEMPTS, LockThreads.pool(provider + "-attempt", 3));
		this.pools.put(Work.RELEASES, LockThreads.pool(provider + "-release", 3));
		this.pools.put(Work.RENEWAL_ROUNDS, LockThreads.pool(provider + "-schedule", 1));
		this.pools.put(Work.RENEWALS, LockThreads.pool(provider + "-renewal", 2));
		this.pools.put(Work.LOSSES, LockThreads.pool(provider + "-loss", 2));
		this.pools.put(Work.LOSS_ACTIONS, LockThreads.pool(provider + "-on-lost", 32));
		this.pools.put(Work.CALLBACKS, LockThreads.pool(provider + "-callback", 8));
	}

	@Override
	public long nanoTime() {
		return System.nanoTime();
	}

	@Override
	public Runnable schedule(Runnable signal, long delayNanos) {
		try {
			Future<?> scheduled = this.timer.schedule(signal, Duration.ofNanos(delayNanos));
			return () -> scheduled.cancel(false);
		}
		catch (RejectedExecutionException ex) {
			// The timer was closed with the application.
			return NOTHING;
		}
	}

	@Override
	public OwnerId newOwnerId() {
		return this.ownerIds.next();
	}

	@Override
	public double nextDouble() {
		return ThreadLocalRandom.current().nextDouble();
	}

	@Override
	public Executor executor(Work work) {
		ThreadPoolExecutor pool = this.pools.get(work);
		if (pool == null) {
			throw new IllegalArgumentException("There are no threads for " + work);
		}
		return pool;
	}

	/**
	 * Rejects further calls to the store. Callbacks go on while bodies of the application
	 * still run; each of their threads ends as soon as it is idle.
	 */
	@Override
	public void close() {
		this.pools.forEach((work, pool) -> {
			switch (work) {
				case ATTEMPTS, RELEASES, RENEWAL_ROUNDS, RENEWALS -> pool.shutdown();
				case LOSSES, LOSS_ACTIONS, CALLBACKS -> pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
			}
		});
	}

}
