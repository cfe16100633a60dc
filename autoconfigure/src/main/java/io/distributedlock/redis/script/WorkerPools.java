package io.distributedlock.redis.script;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockThreads;

/**
 * The threads for calls that block, however long the client or its pool blocks. The calls
 * of each kind to each node of a cluster have a few of their own, so that blocked
 * acquires delay neither releases nor renewals, and a node that does not reply delays no
 * calls to the others. Idle threads end.
 */
public final class WorkerPools implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(WorkerPools.class);

	/** Most callers of running calls have left already: only the client still waits. */
	private static final Duration PATIENCE = Duration.ofSeconds(1);

	/** Further calls would wait in vain, and need memory while no worker is free. */
	private static final int MOST_WAITING = 10_000;

	private final ReentrantLock lock = new ReentrantLock();

	/** One for each kind of calls to a node; guarded by the lock, final after the end. */
	private final Map<Group, ThreadPoolExecutor> pools = new HashMap<>();

	private final Duration patience;

	/** Whether no more calls are accepted; guarded by the lock. */
	private boolean closed;

	/** Whether calls that wait for a worker are dropped. */
	private volatile boolean stopped;

	public WorkerPools() {
		this(PATIENCE);
	}

	/**
	 * Creates the pools.
	 * @param patience how long {@link #close()} waits for running calls, before and after
	 * it interrupts them
	 */
	public WorkerPools(Duration patience) {
		this.patience = patience;
	}

	/**
	 * Executes a call when a worker is free for it.
	 * @param kind the purpose of the call
	 * @param node identifies the node of a cluster that is called; {@code null} if it is
	 * not known, or the only one
	 * @param call the call
	 * @throws LockProviderException if there is no worker; the call is neither run nor
	 * dropped then
	 */
	public void execute(CallKind kind, @Nullable Object node, WorkerTask call) {
		this.lock.lock();
		try {
			if (this.closed) {
				throw RedisErrors.closed(null);
			}
			ThreadPoolExecutor workers = pool(new Group(kind, node));
			if (workers.getQueue().size() >= MOST_WAITING) {
				throw new RejectedExecutionException("More than " + MOST_WAITING + " calls wait for a worker");
			}
			workers.execute(() -> runOrDrop(call));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			throw RedisErrors.notCalled(ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Returns the pool of a group. A new pool takes the place of those whose threads have
	 * ended, because their nodes are not called any more.
	 */
	private ThreadPoolExecutor pool(Group group) {
		ThreadPoolExecutor present = this.pools.get(group);
		if (present == null) {
			this.pools.values().removeIf((pool) -> pool.getPoolSize() == 0);
			present = newPool(group);
			this.pools.put(group, present);
		}
		return present;
	}

	private static ThreadPoolExecutor newPool(Group group) {
		return switch (group.kind()) {
			case ACQUIRE -> LockThreads.pool("redis-call", 4);
			case RELEASE -> LockThreads.pool("redis-release", 5);
			// Two, so that a renewal whose reply is lost does not delay the next one.
			case RENEWAL -> LockThreads.pool("redis-renewal", 2);
		};
	}

	private void runOrDrop(WorkerTask call) {
		try {
			if (this.stopped) {
				call.drop(RedisErrors.closed(null));
			}
			else {
				call.run();
			}
		}
		catch (RuntimeException | Error ex) {
			logger.error("A call of a worker failed", ex);
		}
	}

	/**
	 * Rejects further calls, and waits a moment for running ones; interrupts those that
	 * still run then, drops those that wait for a worker, and waits once more. Jedis may
	 * pause for seconds before it repeats a call to a cluster, and would open connections
	 * again after the client was closed.
	 */
	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
		this.pools.values().forEach(ExecutorService::shutdown);
		try {
			if (!await()) {
				stop();
				await();
			}
		}
		catch (InterruptedException ex) {
			stop();
			Thread.currentThread().interrupt();
		}
	}

	private boolean await() throws InterruptedException {
		Deadline deadline = Deadline.after(this.patience);
		boolean ended = true;
		for (ExecutorService pool : this.pools.values()) {
			ended &= pool.awaitTermination(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
		}
		return ended;
	}

	private void stop() {
		this.stopped = true;
		// Each of those that wait is dropped when it is run.
		this.pools.values().forEach((pool) -> pool.shutdownNow().forEach(Runnable::run));
	}

	/** The calls of one kind to one node. */
	private record Group(CallKind kind, @Nullable Object node) {
	}

}
