package io.distributedlock.benchmarks.run;

import java.io.PrintStream;
import java.time.Duration;

/**
 * Shows what is measured now, how far the run is, and when it is expected to end.
 */
final class Progress {

	/** So that one measurement that takes long does not say much about all others. */
	private static final Duration CAUTION = Duration.ofMinutes(1);

	private final PrintStream out;

	private final int measurements;

	private final Duration estimate;

	private final long beginNanos = System.nanoTime();

	/** How long the measurements that have ended were thought to take. */
	private Duration done = Duration.ZERO;

	/** How long the measurements that were not necessary were thought to take. */
	private Duration skipped = Duration.ZERO;

	private int number;

	/**
	 * Begins, and shows about how long the run takes.
	 * @param out where to
	 * @param plan the measurements of the run
	 */
	Progress(PrintStream out, Plan plan) {
		this.out = out;
		this.measurements = plan.measurements();
		this.estimate = plan.estimate();
		show(plan.toString());
	}

	/** Shows what is measured now, and leaves the line open for the result. */
	void begin(String what) {
		this.number++;
		Duration elapsed = Duration.ofNanos(System.nanoTime() - this.beginNanos);
		this.out.print(this.number + " of " + this.measurements + ", " + Plan.text(elapsed) + " elapsed, ends about "
				+ Plan.clock(left(elapsed)) + " · " + what + ": ");
		this.out.flush();
	}

	/** Returns how long the rest takes, if it is as slow as what has ended. */
	private Duration left(Duration elapsed) {
		Duration left = this.estimate.minus(this.done).minus(this.skipped);
		double pace = (double) elapsed.plus(CAUTION).toMillis() / this.done.plus(CAUTION).toMillis();
		return Duration.ofMillis(Math.round(left.toMillis() * pace));
	}

	/**
	 * Shows the result of a measurement.
	 * @param estimate how long it was thought to take
	 * @param result what it has found
	 */
	void ended(Duration estimate, String result) {
		this.done = this.done.plus(estimate);
		show(result);
	}

	/** Passes over a measurement that is not necessary. */
	void skip(Duration estimate) {
		this.number++;
		this.skipped = this.skipped.plus(estimate);
	}

	void show(String what) {
		this.out.println(what);
	}

}
