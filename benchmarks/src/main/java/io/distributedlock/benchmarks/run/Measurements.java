package io.distributedlock.benchmarks.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Row;
import io.distributedlock.benchmarks.scenario.Figure;
import io.distributedlock.benchmarks.scenario.Latencies;
import io.distributedlock.benchmarks.scenario.Measurement;

/**
 * The measurements of all rounds. A figure is the median of its rounds; a percentile is
 * that of all rounds together, and is left out where there are too few samples for it.
 * Each ratio is the median of the rounds' ratios, because the rounds of two contenders
 * were measured side by side.
 */
final class Measurements {

	/** Percentiles, and how many samples each needs. */
	private static final Map<Double, Integer> PERCENTILES = new TreeMap<>(Map.of(50.0, 10, 90.0, 100, 99.0, 1000));

	private final Map<Subject, SortedMap<Integer, Double>> figures = new LinkedHashMap<>();

	private final Map<Subject, Histogram> latencies = new LinkedHashMap<>();

	private final List<Predicate<Subject>> exclusions = new ArrayList<>();

	/** Removes a contender from a scenario, and refuses its later rounds. */
	void exclude(String scenario, String store, Library library) {
		Predicate<Subject> excluded = (subject) -> subject.scenario().equals(scenario) && subject.store().equals(store)
				&& subject.library() == library;
		this.exclusions.add(excluded);
		this.figures.keySet().removeIf(excluded);
		this.latencies.keySet().removeIf(excluded);
	}

	void add(String scenario, String store, Library library, int round, Measurement measurement) {
		for (Figure figure : measurement.figures()) {
			add(new Subject(scenario, store, library, figure.metric(), figure.unit()), round, figure.value());
		}
		measurement.latencies().forEach((name, histogram) -> {
			this.latencies
				.computeIfAbsent(new Subject(scenario, store, library, name, "µs"), (key) -> Latencies.newHistogram())
				.add(histogram);
			PERCENTILES.keySet()
				.forEach((percentile) -> add(percentile(scenario, store, library, name, percentile), round,
						histogram.getValueAtPercentile(percentile) / 1e3));
			add(new Subject(scenario, store, library, statistic(name, "max"), "µs"), round,
					histogram.getMaxValue() / 1e3);
		});
	}

	private void add(Subject subject, int round, double value) {
		if (this.exclusions.stream().anyMatch((excluded) -> excluded.test(subject))) {
			return;
		}
		this.figures.computeIfAbsent(subject, (key) -> new TreeMap<>()).put(round, value);
	}

	private static Subject percentile(String scenario, String store, Library library, String name, double percentile) {
		return new Subject(scenario, store, library, statistic(name, "p" + Math.round(percentile)), "µs");
	}

	/**
	 * Returns {@code lock-p50} of {@code lock}, and {@code lock-p50-cold} of its cold
	 * latencies.
	 */
	private static String statistic(String name, String statistic) {
		return name.endsWith(Measurement.COLD) ? name.replace(Measurement.COLD, "-" + statistic + Measurement.COLD)
				: name + "-" + statistic;
	}

	/** Returns a row for each figure, and one for each that two builds of ours share. */
	List<Row> rows() {
		Map<Subject, Double> merged = new LinkedHashMap<>();
		this.latencies.forEach((subject, histogram) -> {
			PERCENTILES.forEach((percentile, samples) -> merged.put(
					percentile(subject.scenario(), subject.store(), subject.library(), subject.metric(), percentile),
					(histogram.getTotalCount() >= samples) ? histogram.getValueAtPercentile(percentile) / 1e3
							: Double.NaN));
			merged.put(subject.with(statistic(subject.metric(), "max")), histogram.getMaxValue() / 1e3);
		});
		List<Row> rows = new ArrayList<>();
		this.figures.forEach((subject, rounds) -> {
			double value = merged.getOrDefault(subject, median(rounds.values().stream().toList()));
			if (!Double.isNaN(value)) {
				Ratios ratios = ratios(rounds, raw(subject));
				rows.add(new Row(subject.scenario(), subject.store(), subject.library().label(), subject.metric(),
						value, subject.unit(), (ratios != null) ? ratios.median() : null, lowest(rounds),
						highest(rounds), rounds.size()));
			}
		});
		rows.addAll(comparison());
		return rows;
	}

	/** Returns how this build of ours compares with the other one. */
	private List<Row> comparison() {
		List<Row> rows = new ArrayList<>();
		this.figures.forEach((subject, rounds) -> {
			Ratios ratios = (subject.library() == Library.OURS)
					? ratios(rounds, this.figures.get(subject.with(Library.OURS_BEFORE))) : null;
			if (ratios != null) {
				rows.add(new Row(subject.scenario(), subject.store(), Row.OURS_TO_BEFORE, subject.metric(),
						ratios.median(), "ratio", null, ratios.lowest(), ratios.highest(), ratios.rounds()));
			}
		});
		return rows;
	}

	private @Nullable SortedMap<Integer, Double> raw(Subject subject) {
		return this.figures.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().isSameOfRaw(subject))
			.findFirst()
			.map(Map.Entry::getValue)
			.orElse(null);
	}

	private static @Nullable Ratios ratios(SortedMap<Integer, Double> rounds,
			@Nullable SortedMap<Integer, Double> others) {
		if (others == null) {
			return null;
		}
		List<Double> ratios = new ArrayList<>();
		rounds.forEach((round, value) -> {
			Double other = others.get(round);
			if (other != null && other != 0) {
				ratios.add(value / other);
			}
		});
		return ratios.isEmpty() ? null : new Ratios(median(ratios), ratios.stream().min(Double::compare).orElseThrow(),
				ratios.stream().max(Double::compare).orElseThrow(), ratios.size());
	}

	private static double lowest(SortedMap<Integer, Double> rounds) {
		return rounds.values().stream().min(Double::compare).orElseThrow();
	}

	private static double highest(SortedMap<Integer, Double> rounds) {
		return rounds.values().stream().max(Double::compare).orElseThrow();
	}

	private static double median(List<Double> values) {
		double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		int middle = sorted.length / 2;
		return (sorted.length % 2 == 1) ? sorted[middle]
				: Arrays.stream(sorted, middle - 1, middle + 1).average().orElseThrow();
	}

	private record Ratios(double median, double lowest, double highest, int rounds) {
	}

	private record Subject(String scenario, String store, Library library, String metric, String unit) {

		Subject with(String metric) {
			return new Subject(this.scenario, this.store, this.library, metric, this.unit);
		}

		Subject with(Library library) {
			return new Subject(this.scenario, this.store, library, this.metric, this.unit);
		}

		boolean isSameOfRaw(Subject other) {
			return this.library.isRaw() && this.scenario.equals(other.scenario) && this.store.equals(other.store)
					&& this.metric.equals(other.metric);
		}

	}

}
