package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * The race between the end of something and the end of the time that it may take.
 * Whichever comes second has no effect. Safe for use by many threads.
 */
public final class TimeLimit {

	private final Runnable onExpired;

	private final AtomicBoolean over = new AtomicBoolean();

	private volatile @Nullable Runnable cancellation;

	/**
	 * Creates a limit whose time has not begun.
	 * @param onExpired what to do at the end of the time, on the timer; does not block
	 */
	public TimeLimit(Runnable onExpired) {
		this.onExpired = onExpired;
	}

	/** Begins the time, which is over at once if the timer has no thread. */
	public void begin(EngineEnvironment environment, Duration timeout) {
		if (isOver()) {
			return;
		}
		try {
			this.cancellation = environment.schedule(this::expire, timeout.toNanos());
		}
		catch (OutOfMemoryError ex) {
			expire();
		}
	}

	public boolean isOver() {
		return this.over.get();
	}

	/**
	 * Records the end of what is limited.
	 * @return {@code false} if it has ended before, or its time had passed
	 */
	public boolean end() {
		if (!this.over.compareAndSet(false, true)) {
			return false;
		}
		Runnable cancel = this.cancellation;
		if (cancel != null) {
			cancel.run();
		}
		return true;
	}

	/** Ends the time now. */
	public void expire() {
		if (end()) {
			this.onExpired.run();
		}
	}

}
