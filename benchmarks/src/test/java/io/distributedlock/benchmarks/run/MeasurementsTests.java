package io.distributedlock.benchmarks.run;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Row;
import io.distributedlock.benchmarks.scenario.Figure;
import io.distributedlock.benchmarks.scenario.Latencies;
import io.distributedlock.benchmarks.scenario.Measurement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

@Tag("full")
class MeasurementsTests {

	private final Measurements measurements = new Measurements();

	@Test
	void rowIsTheMedianOfItsRoundsAndOfTheirRatios() {
		add(Library.RAW, 90, 100, 110);
		add(Library.OURS, 45, 60, 1100);
		assertThat(this.measurements.rows()).containsExactly(
				new Row("uncontended-1", "redis", "raw", "throughput", 100, "locks/s", 1.0, 90, 110, 3),
				new Row("uncontended-1", "redis", "ours", "throughput", 60, "locks/s", 0.6, 45, 1100, 3));
	}

	@Test
	void roundsOfTwoBuildsAreComparedSideBySide() {
		add(Library.OURS, 10, 200, 30);
		add(Library.OURS_BEFORE, 20, 100, 30);
		assertThat(this.measurements.rows())
			.contains(new Row("uncontended-1", "redis", Row.OURS_TO_BEFORE, "throughput", 1, "ratio", null, 0.5, 2, 3));
	}

	@Test
	void excludedContenderHasNoFiguresOfAnyRound() {
		add(Library.RAW, 90, 100);
		add(Library.OURS, 45, 60);
		this.measurements.exclude("uncontended-1", "redis", Library.OURS);
		add(Library.OURS, 45, 60);
		assertThat(this.measurements.rows()).extracting(Row::contender).containsOnly("raw");
	}

	@Test
	void evenNumberOfRoundsHasTheMiddleOfBoth() {
		add(Library.OURS, 4, 1, 3, 2);
		assertThat(this.measurements.rows()).singleElement().satisfies((row) -> {
			assertThat(row.value()).isEqualTo(2.5);
			assertThat(row.ratioToRaw()).isNull();
		});
	}

	@Test
	void percentileIsThatOfAllRoundsTogether() {
		addLatencies(0, 900, 1);
		addLatencies(1, 200, 50);
		assertThat(row("wait-p50").value()).isCloseTo(1000, withinPercentage(1));
		assertThat(row("wait-p90").value()).isCloseTo(50_000, withinPercentage(1));
		assertThat(row("wait-p90").lowest()).isCloseTo(1000, withinPercentage(1));
		assertThat(row("wait-max").value()).isCloseTo(50_000, withinPercentage(1));
	}

	@Test
	void percentileOfTooFewSamplesIsLeftOut() {
		addLatencies(0, 999, 1);
		assertThat(this.measurements.rows()).extracting(Row::metric)
			.containsExactly("wait-p50", "wait-p90", "wait-max");
	}

	@Test
	void coldFiguresHaveRatiosOfTheirOwn() {
		addCold(Library.RAW, 100, 1);
		addCold(Library.OURS, 50, 3);
		assertThat(row(Library.OURS, "throughput-cold").ratioToRaw()).isEqualTo(0.5);
		assertThat(row(Library.OURS, "lock-p50-cold").ratioToRaw()).isCloseTo(3, withinPercentage(1));
		assertThat(row(Library.OURS, "lock-max-cold").value()).isCloseTo(3000, withinPercentage(1));
	}

	private void addCold(Library library, double throughput, int millis) {
		this.measurements.add("uncontended-1", "redis", library, 0,
				new Measurement(List.of(new Figure("throughput-cold", throughput, "locks/s")),
						Map.of("lock-cold", latencies(100, millis))));
	}

	private Row row(Library library, String metric) {
		return this.measurements.rows()
			.stream()
			.filter((row) -> row.contender().equals(library.label()) && row.metric().equals(metric))
			.findFirst()
			.orElseThrow();
	}

	private Row row(String metric) {
		return row(Library.OURS, metric);
	}

	private void addLatencies(int round, int samples, int millis) {
		this.measurements.add("hand-over", "redis", Library.OURS, round,
				new Measurement(List.of(), Map.of("wait", latencies(samples, millis))));
	}

	private static Histogram latencies(int samples, int millis) {
		Histogram histogram = Latencies.newHistogram();
		histogram.recordValueWithCount(Duration.ofMillis(millis).toNanos(), samples);
		return histogram;
	}

	private void add(Library library, double... values) {
		for (int round = 0; round < values.length; round++) {
			this.measurements.add("uncontended-1", "redis", library, round,
					new Measurement(List.of(new Figure("throughput", values[round], "locks/s")), Map.of()));
		}
	}

}
