package io.distributedlock.engine.concurrent;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
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
public final class ThreadedEnvironment implements EngineEnvironment, AutoCloseable {

	/** The usual share of 64 nodes. */
	private static final int MOST_NODE_THREADS = 128;

	private final LockTimer timer;

	/** New with each start: an image of a process may be restored more than once. */
	private volatile OwnerIdGenerator ownerIds = new OwnerIdGenerator();

	/** The threads for calls to the store and their choice. */
	private final Map<Work, ThreadPoolExecutor> pools = new EnumMap<>(Work.class);

	private final CallbackThreads callbacks;

	/**
	 * Creates an environment without running threads.
	 * @param provider the name of the provider, part of the threads' names
	 * @param timer the timer, which is not closed with the environment
	 * @param callbacks the threads for callbacks, which are not closed either
	 */
	public ThreadedEnvironment(String provider, LockTimer timer, CallbackThreads callbacks) {
		this.timer = timer;
		this.callbacks = callbacks;
		this.pools.put(Work.ATTEMPTS, nodePool(provider + "-io-attempt"));
		this.pools.put(Work.RELEASES, nodePool(provider + "-io-release"));
		this.pools.put(Work.RENEWAL_ROUNDS, LockThreads.pool(provider + "-schedule", 1));
		this.pools.put(Work.RENEWALS, nodePool(provider + "-io-renewal"));
	}

	/**
	 * Creates a pool for {@link NodeThreads}, which starts a thread only if none is idle:
	 * a queue of tasks would let nodes that do not answer occupy all threads.
	 */
	private static ThreadPoolExecutor nodePool(String role) {
		return new ThreadPoolExecutor(0, MOST_NODE_THREADS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
				LockThreads.factory(role));
	}

	@Override
	public long nanoTime() {
		return System.nanoTime();
	}

	@Override
	public Runnable schedule(Runnable signal, long delayNanos) {
		return this.timer.scheduleIfOpen(signal, delayNanos);
	}

	/** Draws new random numbers, so that copies of this process have other owner ids. */
	public void drawOwnerIds() {
		this.ownerIds = new OwnerIdGenerator();
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
		return (pool != null) ? pool : this.callbacks.executor(work);
	}

	/** Rejects further calls to the store. */
	@Override
	public void close() {
		this.pools.values().forEach(ThreadPoolExecutor::shutdown);
	}

}
