package io.distributedlock.redis;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.distributedlock.provider.LockThreads;

/**
 * A pool of workers for one kind of call. The calls to one node of a cluster occupy all
 * workers but one at most, so that a node that does not reply delays no calls to the
 * others.
 */
final class WorkerPool {

	private final ThreadPoolExecutor workers;

	private final int mostPerNode;

	private final ReentrantLock lock = new ReentrantLock();

	/** The calls to each node that has any; guarded by the lock. */
	private final Map<Object, NodeCalls> nodes = new HashMap<>();

	private volatile boolean stopped;

	/**
	 * Creates a pool without threads.
	 * @param role what the workers do, part of their names
	 * @param size the most workers at a time, at least 2
	 */
	WorkerPool(String role, int size) {
		this.workers = LockThreads.pool(role, size);
		this.mostPerNode = size - 1;
	}

	/**
	 * Executes a call when a worker is free for it.
	 * @param node identifies the node, or {@code null} if it is not known or the only one
	 * @param call the call
	 * @throws RejectedExecutionException after the pool was shut down
	 */
	void execute(@Nullable Object node, Runnable call) {
		if (node == null) {
			this.workers.execute(call);
		}
		else if (begin(node, call)) {
			try {
				this.workers.execute(() -> run(node, call));
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				undo(node);
				throw ex;
			}
		}
	}

	/** Whether the call begins now; if not, it follows another one to its node. */
	private boolean begin(Object node, Runnable call) {
		this.lock.lock();
		try {
			NodeCalls calls = this.nodes.computeIfAbsent(node, (absent) -> new NodeCalls());
			if (calls.running < this.mostPerNode) {
				calls.running++;
				return true;
			}
			calls.waiting.add(call);
			return false;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void run(Object node, Runnable call) {
		try {
			call.run();
		}
		finally {
			Runnable next = next(node);
			if (next != null) {
				handOn(node, next);
			}
		}
	}

	/** Queues the next call behind those to other nodes. */
	private void handOn(Object node, Runnable next) {
		try {
			this.workers.execute(() -> run(node, next));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			if (!this.stopped) {
				run(node, next);
			}
		}
	}

	/** Ends a call to a node; returns the one that takes its place, if any. */
	private @Nullable Runnable next(Object node) {
		this.lock.lock();
		try {
			NodeCalls calls = this.nodes.get(node);
			Runnable next = (calls != null) ? calls.waiting.poll() : null;
			if (next == null) {
				undo(node);
			}
			return next;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void undo(Object node) {
		this.lock.lock();
		try {
			NodeCalls calls = this.nodes.get(node);
			if (calls != null && --calls.running == 0 && calls.waiting.isEmpty()) {
				this.nodes.remove(node);
			}
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
		this.workers.shutdownNow();
	}

	boolean awaitTermination(long nanos) throws InterruptedException {
		return this.workers.awaitTermination(nanos, TimeUnit.NANOSECONDS);
	}

	/** The calls to one node. */
	private static final class NodeCalls {

		private final Queue<Runnable> waiting = new ArrayDeque<>();

		private int running;

	}

}
