package io.distributedlock.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results of a run.
 *
 * @param about the machine
 * @param rows the figures
 * @param failures what could not be measured
 */
public record Results(Map<String, String> about, List<Row> rows, List<Failure> failures) {

	/** No results at all. */
	static final Results NONE = new Results(Map.of(), List.of(), List.of());

	/** The properties that comparable runs share. */
	private static final List<String> MACHINE = List.of("processors", "processor", "system", "java");

	private static final String COMMAND = "command";

	private static final String COMPLETE = "complete";

	private static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

	/**
	 * Creates the results of a run on this machine.
	 * @param options what the run was asked for
	 * @param complete whether the run has measured all that it was asked for
	 * @param rows the figures
	 * @param failures what could not be measured
	 */
	public static Results of(String options, boolean complete, List<Row> rows, List<Failure> failures) {
		Map<String, String> about = new LinkedHashMap<>();
		String run = (LocalDate.now(ZoneOffset.UTC) + " " + options).strip();
		about.put(COMMAND, ("benchmarks/run.sh " + options).strip());
		about.put(COMPLETE, Boolean.toString(complete));
		about.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
		about.put("processor", processor());
		about.put("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
		about.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.version"));
		return new Results(about, rows.stream().map((row) -> row.of(run)).toList(), List.copyOf(failures));
	}

	private static String processor() {
		try {
			return Files.readAllLines(Path.of("/proc/cpuinfo"))
				.stream()
				.filter((line) -> line.startsWith("model name"))
				.map((line) -> line.replaceFirst("^[^:]*: *", ""))
				.findFirst()
				.orElse("unknown");
		}
		catch (IOException ex) {
			return "unknown";
		}
	}

	/** Reads results. */
	static Results read(Path file) {
		return JSON.readValue(file.toFile(), Results.class);
	}

	/**
	 * Returns these results and those of a later run. Where both have measured a scenario
	 * in a store, the later ones count: contenders are only compared within a run. A run
	 * of everything in a store replaces all results of that store. Another library that
	 * failed is named. A scenario in which ours or the raw client failed is left out, and
	 * earlier results of it too.
	 * @throws IllegalArgumentException if the run cannot be published
	 */
	Results with(Results run) {
		run.requirePublishable();
		run.requireSameMachine(this);
		Set<List<String>> measured = run.rows.stream().map(Results::subject).collect(Collectors.toSet());
		List<Row> all = new ArrayList<>(this.rows);
		all.removeIf((row) -> measured.contains(subject(row)) || run.isLeftOut(row) || run.isAllOf(row.store()));
		run.rows.stream().filter((row) -> !run.isLeftOut(row) && !run.hasFailed(row)).forEach(all::add);
		List<Failure> failed = new ArrayList<>(this.failures);
		failed.removeIf((failure) -> run.rows.stream().anyMatch(failure::isAbout));
		run.failures.stream().filter((failure) -> !failure.leavesNothingToCompare()).forEach(failed::add);
		failed.removeIf((failure) -> all.stream().noneMatch(failure::isAbout));
		Map<String, String> about = new LinkedHashMap<>(run.about);
		about.keySet().removeAll(List.of(COMMAND, COMPLETE));
		return new Results(about, all, failed);
	}

	/** Whether the run was to measure everything, so that no earlier results remain. */
	boolean isOfEverything() {
		return command().contains("--all") && !command().contains("--store");
	}

	private boolean isAllOf(String store) {
		return command().contains("--all") && this.rows.stream().anyMatch((row) -> row.store().equals(store));
	}

	private List<String> command() {
		return List.of(this.about.getOrDefault(COMMAND, "").split(" "));
	}

	/**
	 * Returns the stores of the runs whose figures still count, by the date and the
	 * command of the runs without names of scenarios and stores.
	 */
	SortedMap<String, Set<String>> runs() {
		SortedMap<String, Set<String>> runs = new TreeMap<>();
		for (Row row : this.rows) {
			if (row.run() != null) {
				String run = row.run().replaceAll(" --store \\S+", "").replaceFirst("( [a-z]\\S*)+", " …");
				runs.computeIfAbsent(run.replaceFirst("(\\S+)(.*)", "$1: `benchmarks/run.sh$2`"),
						(key) -> new LinkedHashSet<>())
					.add(row.store());
			}
		}
		return runs;
	}

	private boolean isLeftOut(Row row) {
		return this.failures.stream().anyMatch((failure) -> failure.leavesNothingToCompare() && failure.isAbout(row));
	}

	private boolean hasFailed(Row row) {
		return this.failures.stream()
			.anyMatch((failure) -> failure.isAbout(row) && row.contender().equals(failure.contender()));
	}

	private void requirePublishable() {
		if (!Boolean.parseBoolean(this.about.get(COMPLETE))) {
			throw new IllegalArgumentException("The last run did not finish: repeat it, then --publish");
		}
		String command = this.about.getOrDefault(COMMAND, "");
		if (Stream.of("--only", "--quick", "--ours-before").anyMatch(command::contains)) {
			throw new IllegalArgumentException(
					"The last run was no whole one: repeat it without --only, --quick and --ours-before, then --publish");
		}
	}

	private void requireSameMachine(Results published) {
		for (String name : MACHINE) {
			String other = published.about.get(name);
			if (other != null && !other.equals(this.about.get(name))) {
				throw new IllegalArgumentException("The last run was on another machine: " + name + " is '"
						+ this.about.get(name) + "' there and '" + other
						+ "' in docs/performance.json. Remove that file to publish everything from this machine");
			}
		}
	}

	private static List<String> subject(Row row) {
		return List.of(row.scenario(), row.store());
	}

	/** Writes the results. */
	public void write(Path file) {
		try {
			Files.createDirectories(file.getParent());
			Files.writeString(file, JSON.writeValueAsString(this) + "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
