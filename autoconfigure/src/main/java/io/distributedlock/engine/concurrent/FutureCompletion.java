package io.distributedlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;

import io.distributedlock.engine.concurrent.EngineEnvironment.Work;

/**
 * The completion of a future, which runs code of the application and so needs a callback
 * thread. If all are occupied for longer than the call time-out, something else is done
 * in its place, once, on a thread for loss actions.
 */
public final class FutureCompletion {

	private final EngineEnvironment environment;

	private final Duration timeout;

	private final Runnable inTime;

	private final TimeLimit limit;

	/**
	 * Creates a completion that has not begun.
	 * @param timeout how long to wait for a callback thread
	 * @param inTime runs on a callback thread
	 * @param tooLate runs if there was no callback thread; does not block
	 */
	public FutureCompletion(EngineEnvironment environment, Duration timeout, Runnable inTime, Runnable tooLate) {
		this.environment = environment;
		this.timeout = timeout;
		this.inTime = inTime;
		this.limit = new TimeLimit(() -> runElsewhere(tooLate));
	}

	/** Hands the completion to a callback thread, and bounds the wait for it. */
	public void begin() {
		try {
			this.environment.executor(Work.CALLBACKS).execute(this::run);
		}
		catch (RejectedExecutionException ex) {
			run();
		}
		catch (OutOfMemoryError ex) {
			// The end of the time is the next try.
		}
		this.limit.begin(this.environment, this.timeout);
	}

	private void run() {
		if (this.limit.end()) {
			this.inTime.run();
		}
	}

	/** Does at once what is done without a callback thread. */
	public void giveUp() {
		this.limit.expire();
	}

	private void runElsewhere(Runnable tooLate) {
		try {
			this.environment.executor(Work.LOSS_ACTIONS).execute(tooLate);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			tooLate.run();
		}
	}

}
