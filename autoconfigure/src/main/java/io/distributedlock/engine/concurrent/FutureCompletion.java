package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.concurrent.EngineEnvironment.Work;

/**
 * The completion of a future, which runs code of the application and so needs a callback
 * thread. If all are occupied for longer than the call time-out, something else is done
 * in its place, once.
 */
public final class FutureCompletion implements Runnable {

	private final EngineEnvironment environment;

	private final Duration timeout;

	private final Runnable inTime;

	private final Runnable tooLate;

	private final AtomicBoolean begun = new AtomicBoolean();

	private volatile @Nullable Runnable cancellation;

	/**
	 * Creates a completion that has not begun.
	 * @param timeout how long to wait for a callback thread
	 * @param inTime runs on a callback thread
	 * @param tooLate runs on the timer if there was no callback thread; does not block
	 */
	public FutureCompletion(EngineEnvironment environment, Duration timeout, Runnable inTime, Runnable tooLate) {
		this.environment = environment;
		this.timeout = timeout;
		this.inTime = inTime;
		this.tooLate = tooLate;
	}

	/** Hands the completion to a callback thread, and bounds the wait for it. */
	public void begin() {
		try {
			this.environment.executor(Work.CALLBACKS).execute(this);
		}
		catch (RejectedExecutionException ex) {
			run();
			return;
		}
		catch (OutOfMemoryError ex) {
			// The bound below is the next try.
		}
		if (!this.begun.get()) {
			try {
				this.cancellation = this.environment.schedule(this::giveUp, this.timeout.toNanos());
			}
			catch (OutOfMemoryError ex) {
				giveUp();
			}
		}
	}

	@Override
	public void run() {
		if (this.begun.compareAndSet(false, true)) {
			Runnable present = this.cancellation;
			if (present != null) {
				present.run();
			}
			this.inTime.run();
		}
	}

	/** Does at once what is done without a callback thread. */
	public void giveUp() {
		if (this.begun.compareAndSet(false, true)) {
			this.tooLate.run();
		}
	}

}
