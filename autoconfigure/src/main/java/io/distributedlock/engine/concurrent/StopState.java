package io.distributedlock.engine.concurrent;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Whether an engine is stopping, and the wait of the thread that stops it. Safe for use
 * by many threads.
 */
public final class StopState {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition progress = this.lock.newCondition();

	private volatile boolean stopping;

	public boolean isStopping() {
		return this.stopping;
	}

	public void begin() {
		this.stopping = true;
	}

	/** Lets the thread that stops the engine look again. */
	public void recordProgress() {
		if (this.stopping) {
			this.lock.lock();
			try {
				this.progress.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/**
	 * Waits for a condition that progress brings about.
	 * @param nanos how long to wait at most
	 */
	public void await(BooleanSupplier condition, long nanos) throws InterruptedException {
		long left = nanos;
		this.lock.lock();
		try {
			while (!condition.getAsBoolean() && left > 0) {
				left = this.progress.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
