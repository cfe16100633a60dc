package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.distributedlock.engine.concurrent.EngineEnvironment.Work;

/**
 * An executor that runs its tasks one after the other, in order, on the threads of a kind
 * of work. At most one of its tasks occupies a thread. If no thread can be started, it
 * tries again a second later. Safe for use by many threads.
 */
public final class SerialQueue implements Executor {

	private static final Log logger = LogFactory.getLog(SerialQueue.class);

	private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

	private final EngineEnvironment environment;

	private final Work work;

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final AtomicReference<Phase> phase;

	private SerialQueue(EngineEnvironment environment, Work work, Phase phase) {
		this.environment = environment;
		this.work = work;
		this.phase = new AtomicReference<>(phase);
	}

	public SerialQueue(EngineEnvironment environment, Work work) {
		this(environment, work, Phase.IDLE);
	}

	/** Creates a queue that runs nothing until it is opened. */
	public static SerialQueue closed(EngineEnvironment environment, Work work) {
		return new SerialQueue(environment, work, Phase.CLOSED);
	}

	/** Runs the tasks that are there, and from now on those that are added. */
	public void open() {
		if (this.phase.compareAndSet(Phase.CLOSED, Phase.IDLE)) {
			startIfIdle();
		}
	}

	@Override
	public void execute(Runnable task) {
		this.tasks.add(task);
		startIfIdle();
	}

	/** Removes a task that has not begun. */
	public void remove(Runnable task) {
		this.tasks.remove(task);
	}

	private void startIfIdle() {
		if (!this.tasks.isEmpty() && this.phase.compareAndSet(Phase.IDLE, Phase.RUNNING)) {
			start();
		}
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
			this.phase.set(Phase.IDLE);
		}
	}

	/** Runs one task, so that a busy queue does not occupy a thread for long. */
	private void runNext() {
		try {
			Runnable task = this.tasks.poll();
			if (task != null) {
				runSafely(task);
			}
		}
		finally {
			this.phase.set(Phase.IDLE);
			startIfIdle();
		}
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

	private enum Phase {

		CLOSED, IDLE, RUNNING

	}

}
