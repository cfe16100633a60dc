package io.distributedlock.benchmarks.run;

import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.Scenario;
import io.distributedlock.benchmarks.scenario.Scenarios;

/**
 * The measurements that the options ask for, and about how long they take.
 *
 * @param options the options
 */
record Plan(Options options) {

	private static final Duration JVM_START = Duration.ofMillis(1500);

	private static final Duration SERVER_START = Duration.ofSeconds(3);

	/** Returns the scenarios of a store that have a contender there. */
	List<Scenario> scenarios(Store store) {
		return Scenarios.all()
			.stream()
			.filter((scenario) -> this.options.asksFor(scenario.name(), Scenarios.isQuick(scenario)))
			.filter((scenario) -> !contenders(scenario, store).isEmpty())
			.toList();
	}

	List<Library> contenders(Scenario scenario, Store store) {
		return Arrays.stream(Library.values())
			.filter((library) -> this.options.asksFor(library) && scenario.suits(library, store))
			.toList();
	}

	/** Returns about how long a contender is measured, with the start of its JVM. */
	Duration estimate(Scenario scenario, Store store, int round) {
		Duration estimate = scenario.estimate(this.options.duration(), store).plus(JVM_START);
		if (scenario.needsEmptyStore()) {
			return estimate.plus(SERVER_START);
		}
		boolean warm = this.options.extent() == Options.Extent.QUICK && round > 0;
		return warm ? estimate : estimate.plus(this.options.warmUp());
	}

	/** Returns about how long each measurement takes. */
	private List<Duration> estimates(Store store) {
		List<Duration> estimates = new ArrayList<>();
		for (Scenario scenario : scenarios(store)) {
			for (int round = 0; round < scenario.rounds(this.options.rounds()); round++) {
				estimates
					.addAll(Collections.nCopies(contenders(scenario, store).size(), estimate(scenario, store, round)));
			}
		}
		return estimates;
	}

	private static Duration sum(List<Duration> durations) {
		return durations.stream().reduce(Duration.ZERO, Duration::plus);
	}

	/** Returns how many measurements there are. */
	int measurements() {
		return InProcess.estimates(this.options).size()
				+ this.options.stores().stream().mapToInt((store) -> estimates(store).size()).sum();
	}

	/** Returns about how long all of them take. */
	Duration estimate() {
		return this.options.stores()
			.stream()
			.map((store) -> sum(estimates(store)))
			.reduce(sum(InProcess.estimates(this.options)), Duration::plus);
	}

	/** Says about how long a run takes that begins now, and each of its stores. */
	@Override
	public String toString() {
		String stores = this.options.stores()
			.stream()
			.map((store) -> store.label() + " " + text(sum(estimates(store))))
			.collect(Collectors.joining(", "));
		return "This takes about " + text(estimate()) + " hours, until " + clock(estimate()) + ": " + measurements()
				+ " measurements (" + stores + ")";
	}

	/** Returns hours and minutes. */
	static String text(Duration duration) {
		long minutes = duration.plusSeconds(30).toMinutes();
		return String.format(Locale.ROOT, "%d:%02d", minutes / 60, minutes % 60);
	}

	/** Returns the time of day after a duration from now. */
	static String clock(Duration duration) {
		return LocalTime.now(ZoneId.systemDefault()).plus(duration).format(DateTimeFormatter.ofPattern("HH:mm"));
	}

}
