package io.distributedlock.engine.concurrent;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.engine.concurrent.EngineEnvironment.Work;
import io.distributedlock.provider.LockProvider;

/**
 * The threads for a kind of calls. Each node of the store has a share of them, so that
 * one that does not answer leaves threads for the others. Safe for use by many threads.
 */
public final class NodeThreads {

	private static final Log logger = LogFactory.getLog(NodeThreads.class);

	private static final int USUAL_SHARE = 2;

	/** How many tasks may pass one that comes again. */
	private static final int MOST_PASSED = 3;

	private final EngineEnvironment environment;

	private final Work work;

	/** How many tasks of a node run at a time. */
	private final int share;

	private final ReentrantLock lock = new ReentrantLock();

	/** The nodes with a task that runs; guarded by the lock. */
	private final Map<Object, Node> nodes = new HashMap<>();

	public NodeThreads(EngineEnvironment environment, Work work) {
		this(environment, work, USUAL_SHARE);
	}

	/**
	 * Creates threads that are started when they are needed.
	 * @param share how many tasks of a node run at a time
	 */
	public NodeThreads(EngineEnvironment environment, Work work, int share) {
		this.environment = environment;
		this.work = work;
		this.share = share;
	}

	/**
	 * Returns the node of the store that keeps a key. A provider that fails to tell it
	 * must not keep a lock from being renewed or released: such keys share a node.
	 */
	public static Object node(LockProvider provider, LockKey key) {
		try {
			return provider.node(key);
		}
		catch (RuntimeException | Error ex) {
			logger.error("Store '" + provider.name() + "' could not tell the node of lock '" + key + "'", ex);
			return provider;
		}
	}

	/**
	 * Runs a task as soon as its node has room.
	 * @param node the node, compared by {@code equals}
	 * @param task what to run
	 * @param onRejected receives the reason if there is no thread for it
	 */
	public void execute(Object node, Runnable task, Consumer<Throwable> onRejected) {
		execute(node, false, task, onRejected);
	}

	/**
	 * Runs a task as soon as its node has room.
	 * @param node the node, compared by {@code equals}
	 * @param repeated whether the task comes again, and so runs after those that do not
	 * @param task what to run
	 * @param onRejected receives the reason if there is no thread for it
	 */
	public void execute(Object node, boolean repeated, Runnable task, Consumer<Throwable> onRejected) {
		Task next = new Task(task, onRejected);
		this.lock.lock();
		try {
			Node present = this.nodes.computeIfAbsent(node, (absent) -> new Node());
			if (present.running == this.share) {
				(repeated ? present.repeated : present.waiting).add(next);
				return;
			}
			present.running++;
		}
		finally {
			this.lock.unlock();
		}
		start(node, next);
	}

	private void start(Object node, @Nullable Task first) {
		Task next = first;
		while (next != null) {
			Task current = next;
			try {
				this.environment.executor(this.work).execute(() -> run(node, current));
				return;
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				next = ended(node);
				current.onRejected().accept(ex);
			}
		}
	}

	private void run(Object node, Task task) {
		try {
			task.action().run();
		}
		finally {
			start(node, ended(node));
		}
	}

	/** Returns the task that follows one that has ended. */
	private @Nullable Task ended(Object node) {
		this.lock.lock();
		try {
			Node present = this.nodes.get(node);
			Task next = (present != null) ? present.next() : null;
			if (present != null && next == null && --present.running == 0) {
				this.nodes.remove(node);
			}
			return next;
		}
		finally {
			this.lock.unlock();
		}
	}

	private record Task(Runnable action, Consumer<Throwable> onRejected) {
	}

	private static final class Node {

		private final Deque<Task> waiting = new ArrayDeque<>(1);

		/** The tasks that come again, and so run after the others. */
		private final Deque<Task> repeated = new ArrayDeque<>(1);

		/** How many others have run since the last one that came again. */
		private int passed;

		private int running;

		/** Without an end of those that come first, one in four comes again. */
		private @Nullable Task next() {
			if (!this.waiting.isEmpty() && (this.repeated.isEmpty() || this.passed < MOST_PASSED)) {
				this.passed++;
				return this.waiting.poll();
			}
			this.passed = 0;
			return this.repeated.poll();
		}

	}

}
