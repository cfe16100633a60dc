package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.EngineEnvironment.Work;

/**
 * An executor that runs its tasks one after the other, in order, on the threads of a kind
 * of work. At most one of its tasks occupies a thread. If no thread can be started, it
 * tries again a second later.
 */
public final class SerialQueue implements Executor {

	private static final Log logger = LogFactory.getLog(SerialQueue.class);

	private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

	private final EngineEnvironment environment;

	private final Work work;

	private final ReentrantLock lock = new ReentrantLock();

	private final Queue<Runnable> tasks = new ArrayDeque<>(2);

	private boolean running;

	public SerialQueue(EngineEnvironment environment, Work work) {
		this.environment = environment;
		this.work = work;
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
		start();
	}

	private void start() {
		try {
			this.environment.executor(this.work).execute(this::runNext);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Callbacks dropped: the lock threads have ended", ex);
		}
		catch (OutOfMemoryError ex) {
			logger.warn("There is no thread for callbacks of locks; they are run later", ex);
			startLater();
		}
	}

	private void startLater() {
		try {
			this.environment.schedule(this::start, RETRY_NANOS);
		}
		catch (OutOfMemoryError ex) {
			// The next callback tries again.
			this.lock.lock();
			try {
				this.running = false;
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Runs one task, so that a busy queue does not occupy a thread for long. */
	private void runNext() {
		Runnable task = next();
		if (task != null) {
			try {
				runSafely(task);
			}
			finally {
				continueWithNext();
			}
		}
	}

	private @Nullable Runnable next() {
		this.lock.lock();
		try {
			return this.tasks.poll();
		}
		finally {
			this.lock.unlock();
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
		start();
	}

	/** Runs code of the application, whose failure affects nothing else. */
	public static void runSafely(Runnable callback) {
		try {
			callback.run();
		}
		catch (RuntimeException | Error ex) {
			logger.warn("A lock callback failed; the lock is not affected", ex);
		}
	}

}
