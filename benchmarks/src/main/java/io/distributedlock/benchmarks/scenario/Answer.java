package io.distributedlock.benchmarks.scenario;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The observations of a JVM of a contender.
 *
 * @param values numbers by name
 * @param latencies an encoded histogram of nanoseconds, or {@code null}
 */
public record Answer(Map<String, Double> values, @Nullable String latencies) {

	static Answer empty() {
		return new Answer(Map.of(), null);
	}

	Answer with(String name, double value) {
		Map<String, Double> added = new LinkedHashMap<>(this.values);
		added.put(name, value);
		return new Answer(added, this.latencies);
	}

	Answer with(String name, long value) {
		return with(name, (double) value);
	}

	Answer with(Histogram histogram) {
		return new Answer(this.values, Latencies.encode(histogram));
	}

	double value(String name) {
		Double value = this.values.get(name);
		if (value == null) {
			throw new IllegalArgumentException("There is no '" + name + "' in " + this.values);
		}
		return value;
	}

	static double sum(Collection<Answer> answers, String name) {
		return answers.stream().mapToDouble((answer) -> answer.value(name)).sum();
	}

	/** Returns the histograms of all answers in one. */
	static Histogram latencies(Collection<Answer> answers) {
		Histogram all = Latencies.newHistogram();
		for (Answer answer : answers) {
			if (answer.latencies != null) {
				all.add(Latencies.decode(answer.latencies));
			}
		}
		return all;
	}

}
