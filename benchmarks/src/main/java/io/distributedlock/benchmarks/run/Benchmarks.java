package io.distributedlock.benchmarks.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

	private static final String ESTIMATE = "--estimate";

	private static final String RESUME = "--resume";

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
		List<String> measured = rest.stream()
			.filter((argument) -> !List.of(ESTIMATE, RESUME).contains(argument))
			.toList();
		Plan plan;
		Journal journal;
		try {
			plan = new Plan(Options.parse(measured));
			if (rest.contains(ESTIMATE)) {
				out.println(plan);
				return;
			}
			Path file = project.resolve("benchmarks/target/journal.jsonl");
			String command = String.join(" ", measured);
			journal = rest.contains(RESUME) ? Journal.resume(file, command) : Journal.begin(file, command);
		}
		catch (IllegalArgumentException ex) {
			out.println(ex.getMessage());
			out.print(Options.USAGE);
			System.exit(WRONG_USAGE);
			return;
		}
		Results results = run(plan, project.resolve("benchmarks/target"), String.join(" ", measured), journal, out);
		out.println();
		out.print(ResultsTable.of(results.rows()));
		results.failures().forEach((failure) -> out.println("FAILED: " + failure));
		out.println("Written to " + RESULTS);
		if (plan.options().extent() == Options.Extent.ALL && publish(project, out) != 0) {
			System.exit(WRONG_USAGE);
		}
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
		catch (IllegalArgumentException ex) {
			out.println(ex.getMessage());
			return WRONG_USAGE;
		}
	}

	private static Results run(Plan plan, Path target, String arguments, Journal journal, PrintStream out)
			throws IOException, InterruptedException {
		try (RunResources resources = new RunResources()) {
			RunFolder folder = resources.add(RunFolder.create(target));
			// Libraries unpack servers there.
			System.setProperty("java.io.tmpdir", folder.path().toString());
			RunRecord record = new RunRecord(target.resolve("results.json"), folder, arguments, journal);
			Progress progress = new Progress(out, plan);
			if (InProcess.isAsked(plan.options())) {
				try {
					InProcess.run(plan.options(), folder, record, progress);
				}
				catch (WorkerException ex) {
					record.fail(new Failure(InProcess.STORE, InProcess.NAME, Library.OURS.label(), ex.toString()));
					progress.show("FAILED: " + ex);
				}
			}
			new BenchmarkRun(plan, folder, resources, record, progress).run();
			record.complete();
			return record.results();
		}
	}

}
