package io.distributedlock.engine.concurrent;

import java.util.concurrent.Executor;

import io.distributedlock.provider.OwnerId;

/**
 * What the engine takes from outside: the clock, the timer, random numbers and threads. A
 * simulation runs the engine in an environment of its own. Safe for use by many threads.
 */
public interface EngineEnvironment {

	/** Returns the time in nanoseconds, as {@link System#nanoTime()} does. */
	long nanoTime();

	/**
	 * Runs a signal after a delay, unless it is cancelled or the environment is closed.
	 * @param signal what to run; quick, without I/O
	 * @param delayNanos the delay, at once if not positive
	 * @return cancels the signal
	 */
	Runnable schedule(Runnable signal, long delayNanos);

	/** Returns an owner id that was never used before. */
	OwnerId newOwnerId();

	/** Returns a random number from 0 to 1. */
	double nextDouble();

	/**
	 * Returns the threads for a kind of work. They reject tasks once the environment is
	 * closed.
	 */
	Executor executor(Work work);

	/** A kind of work. One kind never waits for the threads of another. */
	public enum Work {

		/** Attempts of requests without a thread, over a blocking client. */
		ATTEMPTS,
		/** Releases and withdrawals that no thread waits for. */
		RELEASES,
		/** The choice of what is renewed next, which waits for nothing. */
		RENEWAL_ROUNDS,
		/** Renewals over a blocking client. */
		RENEWALS,
		/** Reports of losses: log lines and observers, no code of the application. */
		LOSSES,
		/** Actions for lost locks, which are code of the application. */
		LOSS_ACTIONS,
		/** Listeners and completions of futures, which are code of the application. */
		CALLBACKS

	}

}
