package io.distributedlock.testkit;

import java.time.Duration;

/**
 * Bounds on time that also hold on a machine that has other work to do: a promised time
 * plus one allowance, the same for every test.
 */
public final class TimeBounds {

	/**
	 * Time that a loaded machine may add to a promised time. Three test processes and
	 * their servers share two processors with two other busy programs: a thread gets
	 * about a fifth of a processor, so that 200 ms of work, such as the loading of
	 * classes that are used for the first time, take a second.
	 */
	public static final Duration LOAD = Duration.ofSeconds(1);

	private TimeBounds() {
	}

	/**
	 * Returns the latest time that a test accepts for a promised time.
	 * @param promised the promised time, as it is documented
	 * @return the promised time plus the allowance
	 */
	public static Duration withLoad(Duration promised) {
		return promised.plus(LOAD);
	}

	/**
	 * Returns the latest time that a test accepts for a promised time.
	 * @param millis the promised time in milliseconds
	 * @return the promised time plus the allowance
	 */
	public static Duration withLoad(long millis) {
		return withLoad(Duration.ofMillis(millis));
	}

}
