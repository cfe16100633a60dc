package io.distributedlock.benchmarks.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * A result.
 *
 * @param scenario what was measured
 * @param store where the locks were kept
 * @param contender who was measured
 * @param metric the figure
 * @param value the median of the rounds
 * @param unit the unit
 * @param ratioToRaw the value as a ratio to the bare client's, or {@code null} if that
 * was not measured
 * @param lowest the lowest round
 * @param highest the highest round
 * @param rounds the number of rounds
 * @param run the date and the arguments of the run, or {@code null} if that has not ended
 */
public record Row(String scenario, String store, String contender, String metric, double value, String unit,
		@JsonProperty("ratio_to_raw") @Nullable Double ratioToRaw, double lowest, double highest, int rounds,
		@Nullable String run) {

	/**
	 * The contender of rows that compare two builds of this library: this one as a share
	 * of the other one.
	 */
	public static final String OURS_TO_BEFORE = "ours/ours-before";

	/** Creates a result of a run that has not ended. */
	public Row(String scenario, String store, String contender, String metric, double value, String unit,
			@Nullable Double ratioToRaw, double lowest, double highest, int rounds) {
		this(scenario, store, contender, metric, value, unit, ratioToRaw, lowest, highest, rounds, null);
	}

	/** Whether a higher value is better. */
	boolean isMoreBetter() {
		return this.unit.endsWith("/s");
	}

	/**
	 * Returns the row of a run, with figures that are no longer than what was measured.
	 */
	Row of(String run) {
		return new Row(this.scenario, this.store, this.contender, this.metric, round(this.value), this.unit,
				(this.ratioToRaw != null) ? round(this.ratioToRaw) : null, round(this.lowest), round(this.highest),
				this.rounds, run);
	}

	/** Rounds to four digits. */
	private static double round(double value) {
		if (value == 0 || Double.isNaN(value)) {
			return 0;
		}
		double unit = Math.pow(10, 3 - Math.floor(Math.log10(Math.abs(value))));
		return Math.round(value * unit) / unit;
	}

}
