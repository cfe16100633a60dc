package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.inprocess.InProcessMain;
import io.distributedlock.benchmarks.scenario.Figure;
import io.distributedlock.benchmarks.scenario.Measurement;

/**
 * Costs inside one JVM, which JMH measures; two builds of ours take turns.
 */
final class InProcess {

	static final String NAME = "in-process";

	/** In place of the name of a store. */
	static final String STORE = "no store";

	private static final int LONGEST = 3;

	private static final Duration ROUND = Duration.ofSeconds(60);

	private InProcess() {
	}

	/** Returns about how long each measurement takes; none if it is not asked for. */
	static List<Duration> estimates(Options options) {
		return isAsked(options) ? Collections.nCopies(builds(options).size() * rounds(options), ROUND) : List.of();
	}

	/**
	 * Whether it is asked for. A run of all scenarios has it with the first store, so
	 * that runs of one store each measure it once.
	 */
	static boolean isAsked(Options options) {
		return options.asksFor(NAME, false)
				&& (!options.scenarios().isEmpty() || options.stores().contains(Store.REDIS));
	}

	private static int rounds(Options options) {
		return Math.min(options.rounds(), LONGEST);
	}

	private static List<Library> builds(Options options) {
		return (options.oursBefore() != null) ? List.of(Library.OURS, Library.OURS_BEFORE) : List.of(Library.OURS);
	}

	static void run(Options options, RunFolder folder, RunRecord record, Progress progress)
			throws IOException, InterruptedException {
		for (int round = 0; round < rounds(options); round++) {
			for (Library build : BenchmarkRun.order(builds(options), round)) {
				if (record.isSettled(NAME, STORE, build, round)) {
					progress.skip(ROUND);
					continue;
				}
				progress.begin(NAME + " · " + build.label() + " · round " + (round + 1));
				String classPath = (build == Library.OURS) ? ClassPath.current()
						: ClassPath.with(options.requireOursBefore());
				List<Figure> figures = new ArrayList<>();
				measure(build, classPath, folder).forEach((benchmark) -> figures.addAll(figures(benchmark)));
				record.add(NAME, STORE, build, round, new Measurement(figures, Map.of()));
				progress.ended(ROUND, figures.get(0).toString());
			}
		}
	}

	private static JsonNode measure(Library build, String classPath, RunFolder folder)
			throws IOException, InterruptedException {
		Path results = folder.path().resolve("jmh.json");
		Process jmh = Jvm.start(classPath, "1g", folder.path(), folder.log(build), InProcessMain.class,
				results.toString());
		jmh.getInputStream().transferTo(OutputStream.nullOutputStream());
		if (jmh.waitFor() != 0) {
			throw new WorkerException("JMH has failed with exit status " + jmh.exitValue());
		}
		return JsonMapper.builder().build().readTree(results.toFile());
	}

	private static List<Figure> figures(JsonNode benchmark) {
		String name = benchmark.get("benchmark").asString().replaceFirst("^.*\\.", "");
		List<Figure> figures = new ArrayList<>();
		figures.add(new Figure(name, benchmark.at("/primaryMetric/score").asDouble(), "ns"));
		JsonNode bytes = benchmark.at("/secondaryMetrics/gc.alloc.rate.norm/score");
		if (!bytes.isMissingNode()) {
			figures.add(new Figure(name + "-allocated", bytes.asDouble(), "bytes"));
		}
		return figures;
	}

}
