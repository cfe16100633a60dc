package io.distributedlock.benchmarks.run;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.contender.Contender;
import io.distributedlock.benchmarks.contender.HeldLock;
import io.distributedlock.benchmarks.contender.LeaseMode;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.SharedMemory;
import io.distributedlock.benchmarks.scenario.WorkerContext;

/**
 * The context of a worker whose contender opens with its first use. Used by the main
 * thread of the JVM alone.
 */
final class LazyWorkerContext implements WorkerContext {

	private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final Library library;

	private final LeaseMode mode;

	private final Endpoint server;

	private final SharedMemory memory;

	private @Nullable Contender contender;

	LazyWorkerContext(Library library, LeaseMode mode, Endpoint server, SharedMemory memory) {
		this.library = library;
		this.mode = mode;
		this.server = server;
		this.memory = memory;
	}

	@Override
	public Library library() {
		return this.library;
	}

	@Override
	public Endpoint server() {
		return this.server;
	}

	@Override
	public Contender contender() {
		Contender opened = this.contender;
		if (opened == null) {
			opened = openAnother();
			this.contender = opened;
		}
		return opened;
	}

	@Override
	public Contender openAnother() {
		Contender opened = this.library.open(this.server, this.mode);
		connect(opened);
		return opened;
	}

	/**
	 * Acquires and releases a lock, so that connections are open: a JVM that has just
	 * started beside seven others may need longer than a client waits for an answer.
	 */
	private static void connect(Contender contender) {
		long end = System.nanoTime() + PATIENCE.toNanos();
		Exception failure = null;
		while (System.nanoTime() - end < 0) {
			try {
				HeldLock lock = contender.acquire("connect-" + UUID.randomUUID(), Duration.ofSeconds(5));
				if (lock != null) {
					lock.release();
					return;
				}
			}
			catch (Exception ex) {
				failure = ex;
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
		throw new IllegalStateException("The contender acquired no lock within " + PATIENCE.toSeconds() + " s",
				failure);
	}

	@Override
	public SharedMemory memory() {
		return this.memory;
	}

	@SuppressWarnings("CatchAndPrintStackTrace")
	void close() {
		Contender opened = this.contender;
		if (opened != null) {
			try {
				opened.close();
			}
			catch (Exception ex) {
				ex.printStackTrace();
			}
		}
	}

}
