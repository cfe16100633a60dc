package io.distributedlock.benchmarks.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.scenario.Scenario;
import io.distributedlock.benchmarks.scenario.Scenarios;

/**
 * What the command line asks for.
 *
 * @param scenarios names of scenarios; empty means all
 * @param stores the stores
 * @param only the contenders; empty means all
 * @param duration how long each contender is measured in a round
 * @param rounds how often each contender is measured
 * @param extent how much is measured, and how long, where nothing else is asked for
 * @param oursBefore a jar of another build of this library, or {@code null}
 */
record Options(List<String> scenarios, List<Store> stores, Set<Library> only, Duration duration, int rounds,
		Extent extent, @Nullable Path oursBefore) {

	static final String USAGE = """
			Usage: benchmarks/run.sh [SCENARIO...] [--store STORE] [--only CONTENDER,...] [--seconds N] [--rounds N]
			                         [--quick] [--ours-before JAR]
			       benchmarks/run.sh --all [--store STORE] [--seconds N] [--rounds N]
			       benchmarks/run.sh --publish | --report | --startup
			  SCENARIO            %s,
			                      or %s for costs without a store, which redis brings along (default: all)
			  --store STORE       %s (default: all; may be repeated)
			  --only CONTENDER    %s (default: all)
			  --seconds N         how long each contender is measured in a round (default: 5; quick: 1; all: 2),
			                      in hand-over five times as long
			  --rounds N          how often each contender is measured (default: 5; quick and all: 3)
			  --quick             the main scenarios within ten minutes for each store
			  --all               everything in at most three hours, then --publish; replaces all published
			                      results, with --store those of the stores
			  --estimate          shows how long the other arguments take, and measures nothing
			  --resume            goes on with a run of the same other arguments that was interrupted,
			                      or measures again what has failed in it
			  --ours-before JAR   measures another build of this library beside this one
			  --publish           replaces the published results of the scenarios and stores of the last run
			                      (docs/performance.json), then does what --report does
			  --report            writes the tables and plots of docs/performance.md from docs/performance.json
			  --startup           measures what the library costs an application of 500 beans at its start,
			                      since JDK 25 also with an AOT cache
			Results: benchmarks/target/results.json, written after each measurement.
			""".formatted(names(Scenarios.all().stream().map(Scenario::name)), InProcess.NAME,
			names(Arrays.stream(Store.values()).map(Store::label)),
			names(Arrays.stream(Library.values()).map(Library::label)));

	private static String names(Stream<String> names) {
		return names.collect(Collectors.joining(", "));
	}

	/**
	 * Reads the command line.
	 * @throws IllegalArgumentException if it asks for something that does not exist
	 */
	static Options parse(List<String> arguments) {
		List<String> scenarios = new ArrayList<>();
		List<Store> stores = new ArrayList<>();
		Set<Library> only = Set.of();
		Extent extent = Extent.of(arguments);
		int seconds = extent.seconds;
		int rounds = extent.rounds;
		Path oursBefore = null;
		Iterator<String> rest = arguments.iterator();
		while (rest.hasNext()) {
			String argument = rest.next();
			switch (argument) {
				case "--quick", "--all" -> {
					// Seen above, because it sets the defaults of others.
				}
				case "--store" -> stores.add(Store.of(value(argument, rest)));
				case "--only" -> only = libraries(value(argument, rest));
				case "--seconds" -> seconds = positive(argument, value(argument, rest));
				case "--rounds" -> rounds = positive(argument, value(argument, rest));
				case "--ours-before" -> oursBefore = jar(value(argument, rest));
				default -> scenarios.add(scenario(argument));
			}
		}
		if (extent == Extent.ALL && arguments.contains("--quick")) {
			throw new IllegalArgumentException("--all and --quick exclude each other");
		}
		if (extent == Extent.ALL && !(scenarios.isEmpty() && only.isEmpty() && oursBefore == null)) {
			throw new IllegalArgumentException("--all measures every scenario and contender, and this build alone");
		}
		return new Options(List.copyOf(scenarios), stores.isEmpty() ? List.of(Store.values()) : List.copyOf(stores),
				only, Duration.ofSeconds(seconds), rounds, extent, oursBefore);
	}

	private static String value(String option, Iterator<String> rest) {
		if (!rest.hasNext()) {
			throw new IllegalArgumentException(option + " needs a value");
		}
		return rest.next();
	}

	private static int positive(String option, String value) {
		if (!value.matches("[1-9]\\d{0,4}")) {
			throw new IllegalArgumentException(option + " is '" + value + "', but has to be a number of 1 or more");
		}
		return Integer.parseInt(value);
	}

	private static Set<Library> libraries(String labels) {
		return Set.copyOf(Arrays.stream(labels.split(",")).map(Library::of).toList());
	}

	private static Path jar(String value) {
		Path jar = Path.of(value).toAbsolutePath();
		if (!Files.isRegularFile(jar)) {
			throw new IllegalArgumentException("--ours-before is '" + value + "', which is no file");
		}
		return jar;
	}

	private static String scenario(String name) {
		if (name.startsWith("-")) {
			throw new IllegalArgumentException("There is no option '" + name + "'");
		}
		if (!name.equals(InProcess.NAME)) {
			Scenarios.of(name);
		}
		return name;
	}

	/** Whether a scenario is asked for. */
	boolean asksFor(String scenario, boolean partOfQuick) {
		return this.scenarios.isEmpty() ? (partOfQuick || this.extent != Extent.QUICK)
				: this.scenarios.contains(scenario);
	}

	/** Whether a contender takes part. */
	boolean asksFor(Library library) {
		return (library != Library.OURS_BEFORE || this.oursBefore != null) && (this.only.isEmpty()
				|| this.only.contains(library) || (library == Library.OURS_BEFORE && this.only.contains(Library.OURS)));
	}

	/** Returns the jar of the other build of this library. */
	Path requireOursBefore() {
		return Objects.requireNonNull(this.oursBefore, "There is no other build");
	}

	/** Returns how long the JVMs of a contender work before they are measured. */
	Duration warmUp() {
		return Duration.ofSeconds(this.extent.warmUpSeconds);
	}

	/** How much is measured, and how long. */
	enum Extent {

		/** What is named, or all of it. */
		NAMED(5, 5, 5),

		/** The main scenarios, by JVMs that are started once. */
		QUICK(1, 3, 2),

		/** Everything, for {@code docs/performance.md}, in at most three hours. */
		ALL(2, 3, 3);

		private final int seconds;

		private final int rounds;

		private final int warmUpSeconds;

		Extent(int seconds, int rounds, int warmUpSeconds) {
			this.seconds = seconds;
			this.rounds = rounds;
			this.warmUpSeconds = warmUpSeconds;
		}

		private static Extent of(List<String> arguments) {
			if (arguments.contains("--all")) {
				return ALL;
			}
			return arguments.contains("--quick") ? QUICK : NAMED;
		}

	}

}
