package io.distributedlock.benchmarks.report;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;

/**
 * Ours beside the other libraries.
 */
final class Comparison {

	private static final List<String> STORES = Arrays.stream(Store.values()).map(Store::label).toList();

	/** Less is within the spread of the rounds. */
	private static final double LEAST = 1.05;

	private static final List<Compared> FIGURES = List.of(
			new Compared("uncontended-1", "throughput", "free locks, one thread"),
			new Compared("uncontended-1", "throughput-cold", "the same, cold"),
			new Compared("uncontended-16", "throughput", "free locks, 16 threads"),
			new Compared("uncontended-16", "throughput-cold", "the same, cold"),
			new Compared("first-seconds", "time", "the first 2,000 locks"),
			new Compared("hot-key-1x16", "throughput", "hot key, 1 × 16 threads"),
			new Compared("hot-key-2x8", "throughput", "hot key, 2 × 8 threads"),
			new Compared("hot-key-8x1", "throughput", "hot key, 8 processes"),
			new Compared("read-mostly-1x16", "throughput", "mostly read, 1 × 16 threads"),
			new Compared("read-mostly-2x8", "throughput", "mostly read, 2 × 8 threads"),
			new Compared("hand-over", "hand-over-p50", "hand-over"), new Compared("reentry", "time", "re-entry"),
			new Compared("waiting-50", "throughput", "50 waiting processes"),
			new Compared("virtual-threads", "time", "10,000 virtual threads"),
			new Compared("held-locks", "heap", "heap of a held lock"));

	private final Results results;

	Comparison(Results results) {
		this.results = results;
	}

	/**
	 * Returns how many times better one contender is than another one.
	 * @return the factor, or {@code null} if one of both was not measured
	 */
	@Nullable Double times(String scenario, String metric, String store, String contender, String other) {
		Selection selection = Selection.of(this.results, scenario, metric);
		Row row = selection.find(store, contender);
		Row otherRow = selection.find(store, other);
		return (row != null && otherRow != null) ? times(row, otherRow) : null;
	}

	private static double times(Row row, Row other) {
		return row.isMoreBetter() ? row.value() / other.value() : other.value() / row.value();
	}

	/** Returns the contenders that are better than ours in at least one figure. */
	Set<String> better() {
		Set<String> better = new LinkedHashSet<>();
		FIGURES.forEach((figure) -> STORES.forEach((store) -> better.addAll(better(figure, store).keySet())));
		return better;
	}

	private Map<String, Double> better(Compared figure, String store) {
		Map<String, Double> better = new LinkedHashMap<>();
		Arrays.stream(Library.values())
			.map(Library::label)
			.filter((contender) -> !contender.startsWith("ours") && !contender.startsWith("raw"))
			.forEach((contender) -> {
				Double times = times(figure.scenario(), figure.metric(), store, contender, "ours");
				if (times != null && times >= LEAST) {
					better.put(contender, times);
				}
			});
		return better;
	}

	/**
	 * Returns a table of Markdown of the contenders that are better, and how many times.
	 */
	String table() {
		StringBuilder text = new StringBuilder("| times as good as ours | " + String.join(" | ", STORES) + " |\n"
				+ "|---|" + "---|".repeat(STORES.size()) + "\n");
		for (Compared figure : FIGURES) {
			List<String> cells = STORES.stream().map((store) -> text(better(figure, store))).toList();
			if (!String.join("", cells).isEmpty()) {
				text.append("| " + figure.about() + " | " + String.join(" | ", cells) + " |\n");
			}
		}
		return text.toString();
	}

	private static String text(Map<String, Double> better) {
		return better.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + " " + Numbers.text(entry.getValue()))
			.collect(Collectors.joining(", "));
	}

	/**
	 * A figure in which a library may be better.
	 *
	 * @param scenario the scenario
	 * @param metric the metric
	 * @param about what it is about
	 */
	private record Compared(String scenario, String metric, String about) {
	}

}
