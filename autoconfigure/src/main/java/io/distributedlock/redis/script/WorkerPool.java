package io.distributedlock.redis.script;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockThreads;

/**
 * A pool of workers for one kind of call. It grows with the nodes of a cluster that are
 * called at a time, so that the calls to each occupy its own share of the workers, and
 * one worker remains: up to 63 nodes that do not reply delay no calls to the others.
 */
final class WorkerPool {

	private static final Log logger = LogFactory.getLog(WorkerPool.class);

	/** Further calls would wait in vain, and need memory while no worker is free. */
	private static final int MOST_WAITING = 10_000;

	/** More nodes than that, all without a reply, delay the calls to the others. */
	private static final int MOST_WORKERS = 64;

	private final ThreadPoolExecutor workers;

	/** The most workers while one node is called, or none. */
	private final int size;

	private final ReentrantLock lock = new ReentrantLock();

	/** The calls to each node that has any; guarded by the lock. */
	private final Map<Object, NodeCalls> nodes = new HashMap<>();

	private volatile boolean stopped;

	/**
	 * Creates a pool without threads.
	 * @param role what the workers do, part of their names
	 * @param size the most workers at a time for a single node, at least 2
	 */
	WorkerPool(String role, int size) {
		this.workers = LockThreads.pool(role, size);
		this.size = size;
	}

	/**
	 * Executes a call when a worker is free for it.
	 * @param node identifies the node, or {@code null} for a call without a limit
	 * @param call the call
	 * @throws LockProviderException if there is no worker; the call is neither run nor
	 * dropped then
	 */
	void execute(@Nullable Object node, WorkerTask call) {
		if (this.workers.isShutdown()) {
			throw RedisErrors.closed(null);
		}
		requireRoom(this.workers.getQueue().size());
		if (node == null || begin(node, call)) {
			start(node, call);
		}
	}

	private static void requireRoom(int waiting) {
		if (waiting >= MOST_WAITING) {
			throw RedisErrors
				.notCalled(new RejectedExecutionException("More than " + MOST_WAITING + " calls wait for a worker"));
		}
	}

	/** Whether the call begins now; if not, it follows another one to its node. */
	private boolean begin(Object node, WorkerTask call) {
		this.lock.lock();
		try {
			NodeCalls calls = this.nodes.computeIfAbsent(node, (absent) -> new NodeCalls());
			if (calls.running < mostPerNode()) {
				calls.running++;
				grow();
				return true;
			}
			requireRoom(calls.waiting.size());
			calls.waiting.add(call);
			return false;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns the share of one node, less if there are many. */
	private int mostPerNode() {
		return Math.max(1, Math.min(this.size - 1, (MOST_WORKERS - 1) / this.nodes.size()));
	}

	/**
	 * Makes room for the shares of all nodes and one more worker. The pool does not
	 * shrink, since its idle threads end.
	 */
	private void grow() {
		int needed = Math.min(MOST_WORKERS, this.nodes.size() * mostPerNode() + 1);
		if (needed > this.workers.getCorePoolSize()) {
			try {
				this.workers.setMaximumPoolSize(needed);
				this.workers.setCorePoolSize(needed);
			}
			catch (OutOfMemoryError ex) {
				logger.debug("There is no further thread for calls that wait", ex);
			}
		}
	}

	private void start(@Nullable Object node, WorkerTask call) {
		try {
			this.workers.execute(new Task(node, call));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			LockProviderException reason = this.workers.isShutdown() ? RedisErrors.closed(ex)
					: RedisErrors.notCalled(ex);
			dropFollowing(node, reason);
			throw reason;
		}
	}

	/** Drops the calls that would follow one that could not be started. */
	private void dropFollowing(@Nullable Object node, LockProviderException reason) {
		WorkerTask next = next(node);
		while (next != null) {
			next.drop(reason);
			next = next(node);
		}
	}

	/**
	 * Runs a call, and after it those to its node that no other worker can take, since
	 * the pool was shut down.
	 */
	private void run(@Nullable Object node, WorkerTask first) {
		WorkerTask next = first;
		while (next != null) {
			runOrDrop(next);
			next = next(node);
			if (next != null && handOn(node, next)) {
				return;
			}
		}
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

	/** Queues the next call behind those to other nodes, if possible. */
	private boolean handOn(@Nullable Object node, WorkerTask next) {
		try {
			this.workers.execute(new Task(node, next));
			return true;
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A call is run by the worker of the one before it", ex);
			return false;
		}
	}

	/** Ends a call to a node; returns the one that takes its place, if any. */
	private @Nullable WorkerTask next(@Nullable Object node) {
		if (node == null) {
			return null;
		}
		this.lock.lock();
		try {
			NodeCalls calls = this.nodes.get(node);
			// The share has become less if further nodes are called.
			WorkerTask next = (calls != null && calls.running <= mostPerNode()) ? calls.waiting.poll() : null;
			if (calls != null && next == null && --calls.running == 0) {
				this.nodes.remove(node);
			}
			return next;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Rejects further calls; those that wait for a worker are run. */
	void shutdown() {
		this.workers.shutdown();
	}

	/** Rejects further calls, drops those that wait, and interrupts those that run. */
	void shutdownNow() {
		this.stopped = true;
		List<WorkerTask> waiting = removeWaiting();
		// Each ends its call only, since the pool has stopped.
		this.workers.shutdownNow().forEach(Runnable::run);
		waiting.forEach(this::runOrDrop);
	}

	private List<WorkerTask> removeWaiting() {
		List<WorkerTask> waiting = new ArrayList<>();
		this.lock.lock();
		try {
			this.nodes.values().forEach((calls) -> {
				waiting.addAll(calls.waiting);
				calls.waiting.clear();
			});
		}
		finally {
			this.lock.unlock();
		}
		return waiting;
	}

	boolean awaitTermination(long nanos) throws InterruptedException {
		return this.workers.awaitTermination(nanos, TimeUnit.NANOSECONDS);
	}

	/** A call in the queue of the workers. */
	private final class Task implements Runnable {

		private final @Nullable Object node;

		private final WorkerTask call;

		private Task(@Nullable Object node, WorkerTask call) {
			this.node = node;
			this.call = call;
		}

		@Override
		public void run() {
			WorkerPool.this.run(this.node, this.call);
		}

	}

	/** The calls to one node. */
	private static final class NodeCalls {

		private final Queue<WorkerTask> waiting = new ArrayDeque<>();

		private int running;

	}

}
