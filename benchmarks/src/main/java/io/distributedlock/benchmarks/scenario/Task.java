package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A task of a JVM of a contender.
 *
 * @param scenario the name of the scenario
 * @param numbers further details
 */
public record Task(String scenario, Map<String, Long> numbers) {

	/** The detail that numbers the JVMs of a contender from zero. */
	public static final String PROCESS = "process";

	/** The detail that numbers the trials of a run. */
	public static final String TRIAL = "trial";

	/** The detail that says how long to work, in milliseconds. */
	static final String MILLIS = "millis";

	/** Creates a task without details. */
	static Task of(Scenario scenario) {
		return new Task(scenario.name(), Map.of());
	}

	/** Adds a detail. */
	public Task with(String name, long number) {
		Map<String, Long> added = new LinkedHashMap<>(this.numbers);
		added.put(name, number);
		return new Task(this.scenario, added);
	}

	/** Returns a detail. */
	long number(String name) {
		Long number = this.numbers.get(name);
		if (number == null) {
			throw new IllegalArgumentException("There is no '" + name + "' in " + this);
		}
		return number;
	}

	Duration duration() {
		return Duration.ofMillis(number(MILLIS));
	}

	/**
	 * Returns a key that no other trial has: what a contender leaves in the store, or
	 * what it held when it was killed, is in nobody's way.
	 */
	String key() {
		return this.scenario + "-" + number(TRIAL);
	}

	int count(String name) {
		return Math.toIntExact(number(name));
	}

}
