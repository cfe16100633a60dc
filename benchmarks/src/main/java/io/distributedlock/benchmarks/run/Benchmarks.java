package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Failure;
import io.distributedlock.benchmarks.report.PerformancePage;
import io.distributedlock.benchmarks.report.Results;
import io.distributedlock.benchmarks.report.ResultsTable;
import io.distributedlock.benchmarks.startup.StartupMain;

/**
 * The command behind {@code benchmarks/run.sh}.
 */
public final class Benchmarks {

	private static final int WRONG_USAGE = 2;

	private static final String RESULTS = "benchmarks/target/results.json";

	private static final String PUBLISHED = "docs/performance.json";

	private Benchmarks() {
	}

	/**
	 * Runs the command.
	 * @param arguments the folder of the project, and the arguments of the script
	 * @throws Exception whatever goes wrong
	 */
	public static void main(String[] arguments) throws Exception {
		PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
		Path project = Path.of(arguments[0]).toAbsolutePath().normalize();
		List<String> rest = List.of(arguments).subList(1, arguments.length);
		if (rest.contains("--help")) {
			out.print(Options.USAGE);
			return;
		}
		if (rest.equals(List.of("--report")) || rest.equals(List.of("--publish"))) {
			System.exit(rest.contains("--publish") ? publish(project, out) : report(project, out));
		}
		if (rest.equals(List.of("--startup"))) {
			StartupMain.main(new String[0]);
			return;
		}
		Options options;
		try {
			options = Options.parse(rest);
		}
		catch (IllegalArgumentException ex) {
			out.println(ex.getMessage());
			out.print(Options.USAGE);
			System.exit(WRONG_USAGE);
			return;
		}
		Results results = run(options, project.resolve("benchmarks/target"), String.join(" ", rest), out);
		out.println();
		out.print(ResultsTable.of(results.rows()));
		results.failures().forEach((failure) -> out.println("FAILED: " + failure));
		out.println("Written to " + RESULTS);
		System.exit(results.failures().isEmpty() ? 0 : 1);
	}

	/** Adds the results of the last run to those of the page, and writes the page. */
	private static int publish(Path project, PrintStream out) {
		Path results = project.resolve(RESULTS);
		if (!Files.exists(results)) {
			out.println("There is no " + RESULTS + ": run benchmarks/run.sh first");
			return WRONG_USAGE;
		}
		try {
			PerformancePage.of(project)
				.add(results)
				.forEach((failure) -> out.println("Without figures on the page: " + failure));
		}
		catch (IllegalArgumentException ex) {
			out.println(ex.getMessage());
			return WRONG_USAGE;
		}
		return report(project, out);
	}

	/** Writes the page from the published results. */
	private static int report(Path project, PrintStream out) {
		if (!Files.exists(project.resolve(PUBLISHED))) {
			out.println("There is no " + PUBLISHED + ": run benchmarks/run.sh, then benchmarks/run.sh --publish");
			return WRONG_USAGE;
		}
		try {
			out.println("Written: " + PerformancePage.of(project).write());
			return 0;
		}
		catch (IllegalStateException ex) {
			out.println(ex.getMessage());
			return WRONG_USAGE;
		}
	}

	private static Results run(Options options, Path target, String arguments, PrintStream out)
			throws IOException, InterruptedException {
		try (RunResources resources = new RunResources()) {
			RunFolder folder = resources.add(RunFolder.create(target));
			// Libraries unpack servers there.
			System.setProperty("java.io.tmpdir", folder.path().toString());
			RunRecord record = new RunRecord(target.resolve("results.json"), folder, arguments);
			boolean inProcess = options.asksFor(InProcess.NAME, false);
			Duration estimate = BenchmarkRun.estimate(options);
			Progress progress = new Progress(out, inProcess ? estimate.plus(InProcess.estimate(options)) : estimate);
			if (inProcess) {
				try {
					InProcess.run(options, folder, record, progress);
				}
				catch (WorkerException ex) {
					record.fail(new Failure("local", InProcess.NAME, Library.OURS.label(), ex.toString()));
				}
			}
			new BenchmarkRun(options, folder, resources, record, progress).run();
			record.complete();
			return record.results();
		}
	}

}
