package io.distributedlock.benchmarks.scenario;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

import org.HdrHistogram.Histogram;

import io.distributedlock.benchmarks.server.Counters;

/**
 * The result of a trial.
 *
 * @param figures single figures, the most important one first
 * @param latencies histograms of nanoseconds by their name
 */
public record Measurement(List<Figure> figures, Map<String, Histogram> latencies) {

	/** The suffix of the names of figures of a JVM that is not warm. */
	public static final String COLD = "-cold";

	static Measurement of(Figure... figures) {
		return new Measurement(List.of(figures), Map.of());
	}

	Measurement with(List<Figure> added) {
		List<Figure> all = new ArrayList<>(this.figures);
		all.addAll(added);
		return new Measurement(all, this.latencies);
	}

	Measurement with(String name, double value, String unit) {
		return with(List.of(new Figure(name, value, unit)));
	}

	/** Adds a figure if the server counts it. */
	Measurement with(String name, OptionalLong count, double divisor, String unit) {
		return (count.isPresent() && divisor > 0) ? with(name, count.getAsLong() / divisor, unit) : this;
	}

	/** Adds what each lock has cost the server. */
	Measurement withCosts(Counters counted, double locks) {
		return with("commands", counted.commands(), locks, "per lock").with("writes", counted.writes(), locks,
				"per lock");
	}

	Measurement with(String name, Histogram histogram) {
		return with(new Measurement(List.of(), Map.of(name, histogram)));
	}

	Measurement with(Measurement added) {
		Map<String, Histogram> all = new LinkedHashMap<>(this.latencies);
		all.putAll(added.latencies);
		return new Measurement(with(added.figures).figures, all);
	}

	/** Whether the trial shows that two holders had a lock at once. */
	public boolean isViolation() {
		return this.figures.stream().anyMatch(Figure::isViolation);
	}

}
