package io.distributedlock.benchmarks.run;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.report.Results;
import io.distributedlock.benchmarks.report.Row;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Runs with real servers and JVMs, as short as can be.
 */
@Timeout(300)
@Tag("full")
class BenchmarkRunTests {

	@TempDir
	private Path project;

	@Test
	void runMeasuresContendersAndLeavesNothingBehind() throws Exception {
		Path target = this.project.resolve("target");
		Options options = Options
			.parse(List.of("hot-key-2x8", "--store", "redis", "--only", "ours", "--quick", "--rounds", "1"));
		ByteArrayOutputStream printed = new ByteArrayOutputStream();
		Results results;
		try (RunResources resources = new RunResources()) {
			RunFolder folder = resources.add(RunFolder.create(target));
			RunRecord record = record(target, folder);
			Plan plan = new Plan(options);
			new BenchmarkRun(plan, folder, resources, record, new Progress(new PrintStream(printed), plan)).run();
			results = record.results();
		}
		assertThat(results.failures()).isEmpty();
		assertThat(results.rows()).extracting(Row::metric)
			.contains("throughput", "hand-overs", "wait-p50", "commands", "writes", "largest-share", "lost-updates");
		assertThat(results.rows()).filteredOn(
				(row) -> List.of("throughput", "commands", "fewest-of-a-process", "passed-over").contains(row.metric()))
			.allSatisfy((row) -> assertThat(row.value()).isPositive());
		assertThat(printed.toString()).containsPattern(
				"1 of 1, 0:0\\d elapsed, ends about \\d\\d:\\d\\d · redis · hot-key-2x8 · ours · round 1: throughput");
		try (Stream<Path> left = Files.list(target)) {
			assertThat(left).containsExactlyInAnyOrder(target.resolve("results.json"), target.resolve("journal.jsonl"));
		}
		assertThat(ProcessHandle.current().descendants()).noneMatch(BenchmarkRunTests::isWorker);
	}

	@Test
	void roundsHaveOtherOrdersSoThatNoneIsAlwaysFirstOrLast() {
		List<Library> two = List.of(Library.OURS, Library.OURS_BEFORE);
		assertThat(BenchmarkRun.order(two, 0)).isEqualTo(two);
		assertThat(BenchmarkRun.order(two, 1)).containsExactly(Library.OURS_BEFORE, Library.OURS);
		List<Library> all = List.of(Library.values());
		assertThat(IntStream.range(0, 5).mapToObj((round) -> BenchmarkRun.order(all, round).get(0)).distinct())
			.hasSize(3);
		assertThat(IntStream.range(0, 5).mapToObj((round) -> BenchmarkRun.order(all, round)).distinct()).hasSize(5);
	}

	private static RunRecord record(Path target, RunFolder folder) {
		return new RunRecord(target.resolve("results.json"), folder, "",
				Journal.begin(target.resolve("journal.jsonl"), ""));
	}

	private static boolean isWorker(ProcessHandle process) {
		return process.info().commandLine().orElse("").contains(WorkerMain.class.getName());
	}

	@ParameterizedTest
	@ValueSource(strings = { "This takes", "Started redis", "round 1" })
	void runThatIsInterruptedLeavesNothingBehind(String moment) throws Exception {
		Process run = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), Benchmarks.class.getName(), this.project.toString(),
				"uncontended-1", "--store", "redis", "--only", "raw", "--quick", "--rounds", "100")
			.redirectErrorStream(true)
			.start();
		try (BufferedReader output = run.inputReader()) {
			String line = output.readLine();
			while (line != null && !line.contains(moment)) {
				line = output.readLine();
			}
			assertThat(line).as("line with '%s'", moment).isNotNull();
			// Unlike Process.destroy(), this leaves the streams open.
			run.toHandle().destroy();
			output.lines().forEach((rest) -> {
			});
		}
		assertThat(run.waitFor(60, TimeUnit.SECONDS)).isTrue();
		try (Stream<Path> left = Files.list(this.project.resolve("benchmarks/target"))) {
			assertThat(left.map((path) -> path.getFileName().toString())).isSubsetOf("results.json", "journal.jsonl");
		}
		Path results = this.project.resolve("benchmarks/target/results.json");
		if (Files.exists(results)) {
			assertThat(results).content().contains("\"complete\" : \"false\"");
		}
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(ProcessHandle.allProcesses())
				.noneMatch((process) -> process.info().commandLine().orElse("").contains(this.project.toString())));
	}

	@Test
	void contenderThatFailsIsNamedAndEndsNoRun() throws Exception {
		Path target = this.project.resolve("target");
		try (RunResources resources = new RunResources()) {
			RunFolder folder = resources.add(RunFolder.create(target));
			RunRecord record = record(target, folder);
			// An empty jar in place of the library.
			Plan plan = new Plan(Options.parse(List.of("reentry", "--store", "h2", "--only", "ours-before", "--quick",
					"--rounds", "2", "--ours-before", Files.createFile(this.project.resolve("empty.jar")).toString())));
			ByteArrayOutputStream printed = new ByteArrayOutputStream();
			new BenchmarkRun(plan, folder, resources, record, new Progress(new PrintStream(printed), plan)).run();
			assertThat(printed.toString().lines().filter((line) -> line.contains(": FAILED: "))).singleElement()
				.asString()
				.startsWith("1 of 2, ");
			assertThat(record.results().failures()).singleElement()
				.asString()
				.startsWith("h2 · reentry · ours-before: ")
				.contains("io.distributedlock");
			assertThat(record.results().rows()).isEmpty();
		}
	}

	@Test
	void classPathHasTheOtherBuildInPlaceOfOurs() {
		Path before = Path.of("/builds/before.jar");
		List<String> now = List.of(ClassPath.current().split(File.pathSeparator));
		List<String> other = List.of(ClassPath.with(before).split(File.pathSeparator));
		assertThat(other).hasSameSizeAs(now).contains(before.toString());
		assertThat(now.stream().filter((entry) -> !other.contains(entry))).singleElement()
			.asString()
			.matches(".*(autoconfigure|distributed-lock-spring-boot).*");
	}

}
