package io.distributedlock.engine.concurrent;

import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * One pending signal of the timer for the earliest of many instants. It runs once and has
 * to be set again after that. Safe for use by many threads.
 */
public final class EarliestSignal {

	private final EngineEnvironment environment;

	private final Runnable signal;

	private final ReentrantLock lock = new ReentrantLock();

	/** The instant of the pending signal; written under the lock. */
	private volatile @Nullable Pending pending;

	/**
	 * Creates a signal that is not set.
	 * @param signal what to run; quick, without I/O
	 */
	public EarliestSignal(EngineEnvironment environment, Runnable signal) {
		this.environment = environment;
		this.signal = signal;
	}

	/** Sets the signal, unless it is set to an earlier instant. */
	public void setAt(long instantNanos) {
		if (!isEarliest(instantNanos)) {
			return;
		}
		this.lock.lock();
		try {
			if (isEarliest(instantNanos)) {
				Pending next = new Pending(instantNanos);
				next.cancellation = this.environment.schedule(() -> run(next),
						instantNanos - this.environment.nanoTime() + 1);
				cancel();
				this.pending = next;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isEarliest(long instantNanos) {
		Pending present = this.pending;
		return present == null || instantNanos - present.instantNanos < 0;
	}

	private void cancel() {
		Pending present = this.pending;
		if (present != null && present.cancellation != null) {
			present.cancellation.run();
		}
	}

	/** Runs the signal, unless an earlier instant has replaced this one meanwhile. */
	private void run(Pending due) {
		this.lock.lock();
		try {
			if (this.pending != due) {
				return;
			}
			this.pending = null;
		}
		finally {
			this.lock.unlock();
		}
		this.signal.run();
	}

	private static final class Pending {

		private final long instantNanos;

		private @Nullable Runnable cancellation;

		private Pending(long instantNanos) {
			this.instantNanos = instantNanos;
		}

	}

}
