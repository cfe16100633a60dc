package io.distributedlock.support;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * An executor that runs its tasks one after the other, in order, on the threads of a
 * shared executor. At most one of its tasks occupies a thread.
 */
final class SerialQueue implements Executor {

	private static final Log logger = LogFactory.getLog(SerialQueue.class);

	private final Executor executor;

	private final ReentrantLock lock = new ReentrantLock();

	private final Queue<Runnable> tasks = new ArrayDeque<>(2);

	private boolean running;

	SerialQueue(Executor executor) {
		this.executor = executor;
	}

	@Override
	public void execute(Runnable task) {
		this.lock.lock();
		try {
			this.tasks.add(task);
			if (this.running) {
				return;
			}
			this.running = true;
		}
		finally {
			this.lock.unlock();
		}
		try {
			this.executor.execute(this::runNext);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Callback dropped: the lock threads have ended", ex);
		}
	}

	/** Runs one task, so that a busy queue does not occupy a thread for long. */
	private void runNext() {
		Runnable task;
		this.lock.lock();
		try {
			task = this.tasks.remove();
		}
		finally {
			this.lock.unlock();
		}
		try {
			LockEventPublisher.callSafely(task);
		}
		finally {
			continueWithNext();
		}
	}

	private void continueWithNext() {
		this.lock.lock();
		try {
			if (this.tasks.isEmpty()) {
				this.running = false;
				return;
			}
		}
		finally {
			this.lock.unlock();
		}
		try {
			this.executor.execute(this::runNext);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Callback dropped: the lock threads have ended", ex);
		}
	}

}
