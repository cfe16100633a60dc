package io.distributedlock.benchmarks.scenario;

import java.util.Locale;

/**
 * A figure of a trial.
 *
 * @param metric what was measured
 * @param value the number
 * @param unit its unit
 */
public record Figure(String metric, double value, String unit) {

	/** The metric that has to be zero: changes of a counter that another holder undid. */
	public static final String LOST_UPDATES = "lost-updates";

	/** The metric that has to be zero: entries while another holder was inside. */
	public static final String OVERLAPS = "overlaps";

	@Override
	public String toString() {
		return this.metric + " "
				+ String.format(Locale.ROOT, (Math.abs(this.value) < 100) ? "%.2f" : "%,.0f", this.value) + " "
				+ this.unit;
	}

	/** Whether the figure shows that two had a lock at once. */
	public boolean isViolation() {
		return (this.metric.equals(LOST_UPDATES) || this.metric.equals(OVERLAPS)) && this.value != 0;
	}

}
