package io.distributedlock.benchmarks.scenario;

import java.time.Duration;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;

/**
 * Something that is measured. One side of it runs in the process that controls the run,
 * the other one in the JVMs of a contender.
 */
public interface Scenario {

	/** Returns the name on the command line and in the results. */
	String name();

	/**
	 * Whether a library can do what is measured.
	 * @param library the library
	 * @param store where the locks are kept
	 */
	boolean suits(Library library, Store store);

	/**
	 * Measures a contender once.
	 * @param trial the contender's JVMs and the server
	 * @return the result
	 * @throws Exception whatever goes wrong; the trial has no result then
	 */
	Measurement measure(Trial trial) throws Exception;

	/**
	 * Does its part in a JVM of the contender.
	 * @param worker the contender there
	 * @param task what to do
	 * @return what was seen
	 * @throws Exception whatever goes wrong
	 */
	Answer work(WorkerContext worker, Task task) throws Exception;

	/**
	 * Whether locks are renewed where a library leaves the choice.
	 */
	default boolean renews() {
		return false;
	}

	/**
	 * Whether each trial has a server of its own, so that it finds an empty store.
	 */
	default boolean needsEmptyStore() {
		return false;
	}

	/**
	 * Returns how often a contender is measured.
	 * @param asked the number of rounds that was asked for
	 */
	default int rounds(int asked) {
		return asked;
	}

	/**
	 * Returns about how long a trial takes without its warm-up.
	 * @param duration how long a contender is measured
	 * @param store where the locks are kept
	 */
	default Duration estimate(Duration duration, Store store) {
		return duration.plusMillis(200);
	}

}
