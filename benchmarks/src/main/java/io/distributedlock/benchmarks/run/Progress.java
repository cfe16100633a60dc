package io.distributedlock.benchmarks.run;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

/**
 * Shows how far a run is, and about how long it still takes.
 */
final class Progress {

	private final PrintStream out;

	private final long beginNanos = System.nanoTime();

	private final Duration estimate;

	private Duration done = Duration.ZERO;

	/**
	 * Begins, and shows about how long the run takes.
	 * @param out where to
	 * @param estimate about how long all steps take
	 */
	Progress(PrintStream out, Duration estimate) {
		this.out = out;
		this.estimate = estimate;
		show("This takes about " + text(estimate.toSeconds()) + " minutes");
	}

	/**
	 * Shows that a step has ended.
	 * @param step how long it was thought to take
	 * @param what what it was, and its result
	 */
	void ended(Duration step, String what) {
		this.done = this.done.plus(step);
		double share = Math.min(1, (double) this.done.toMillis() / Math.max(1, this.estimate.toMillis()));
		double elapsed = (System.nanoTime() - this.beginNanos) / 1e9;
		show(String.format(Locale.ROOT, "[%3d %%, about %s left] %s", Math.round(100 * share),
				text(Math.round(elapsed / share * (1 - share))), what));
	}

	void show(String what) {
		this.out.println(what);
	}

	private static String text(long seconds) {
		return String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60);
	}

}
