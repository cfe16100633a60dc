package io.distributedlock.benchmarks.scenario;

import java.time.Duration;
import java.util.List;

import io.distributedlock.benchmarks.server.Counters;

/**
 * One measurement of a contender, seen from the scenario.
 */
public interface Trial {

	/** Returns how long to measure. */
	Duration duration();

	/**
	 * Returns how long the JVMs work before they are measured, so that their code is
	 * compiled; zero if all of them have worked for this scenario before.
	 * @param processes the number of JVMs
	 */
	Duration warmUp(int processes);

	/**
	 * Lets JVMs of the contender do a task at the same time.
	 * @param processes the number of JVMs
	 * @param task the task
	 * @return an answer of each
	 */
	List<Answer> run(int processes, Task task);

	/**
	 * Lets a JVM that belongs to this trial alone do a task. It is the same JVM for all
	 * tasks of the trial.
	 * @param task the task
	 * @return its answer
	 */
	Answer runAlone(Task task);

	/** Returns what the server has counted. */
	Counters counters();

	/** Returns the number of keys, rows or nodes that the server keeps. */
	long size();

	/** Returns the memory that all JVMs of the run share. */
	SharedMemory memory();

}
