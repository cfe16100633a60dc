package io.distributedlock.benchmarks.run;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The servers, JVMs and files of a run. They are closed in reverse order: by the run, or
 * by the end of this JVM when the run is interrupted. From then on nothing is started.
 */
final class RunResources implements AutoCloseable {

	/** Longer than a server takes to start. */
	private static final Duration PATIENCE = Duration.ofSeconds(45);

	private static final Duration PAUSE = Duration.ofMillis(100);

	private final Deque<AutoCloseable> resources = new ArrayDeque<>();

	/** Held while a resource is closed, so that this JVM does not end meanwhile. */
	private final Lock closingOne = new ReentrantLock();

	private volatile boolean closing;

	private volatile boolean closed;

	/** Creates the resources of the run that the calling thread makes. */
	RunResources() {
		Thread run = Thread.currentThread();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupt(run), "end-of-run"));
	}

	/**
	 * Closes the resources of a run that has not ended. The run notices it the next time
	 * it adds a resource or needs a JVM, and closes what it was about to start.
	 */
	private void interrupt(Thread run) {
		if (this.closed) {
			return;
		}
		this.closing = true;
		long end = System.nanoTime() + PATIENCE.toNanos();
		try {
			while (run.isAlive() && !this.closed && System.nanoTime() - end < 0) {
				killJvms();
				run.join(PAUSE.toMillis());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		close();
	}

	/** Adds a resource, or closes it at once if the run is over. */
	<T extends AutoCloseable> T add(T resource) {
		synchronized (this.resources) {
			this.resources.push(resource);
		}
		if (this.closing) {
			close(resource);
			throw new IllegalStateException("The run is over");
		}
		return resource;
	}

	/** Closes a resource before the end of the run. */
	void close(AutoCloseable resource) {
		this.closingOne.lock();
		try {
			boolean removed;
			synchronized (this.resources) {
				removed = this.resources.remove(resource);
			}
			if (removed) {
				resource.close();
			}
		}
		catch (Exception ex) {
			System.err.println("Cannot close " + resource + ": " + ex);
		}
		finally {
			this.closingOne.unlock();
		}
	}

	/** Whether the run is over. */
	boolean isClosing() {
		return this.closing;
	}

	@Override
	public void close() {
		this.closing = true;
		killJvms();
		AutoCloseable last = last();
		while (last != null) {
			close(last);
			// The run may have started another one when the first were killed.
			killJvms();
			last = last();
		}
		// Another thread may still close one.
		this.closingOne.lock();
		try {
			this.closed = true;
		}
		finally {
			this.closingOne.unlock();
		}
	}

	private @Nullable AutoCloseable last() {
		synchronized (this.resources) {
			return this.resources.peek();
		}
	}

	private static void killJvms() {
		String java = System.getProperty("java.home");
		ProcessHandle.current()
			.descendants()
			.filter((process) -> process.info().command().filter((command) -> command.startsWith(java)).isPresent())
			.forEach(RunResources::kill);
	}

	/** Ends a process and waits until it has ended. */
	static void kill(ProcessHandle process) {
		process.destroyForcibly();
		process.onExit().completeOnTimeout(process, 10, TimeUnit.SECONDS).join();
	}

}
