package io.distributedlock.benchmarks.report;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;

@Tag("full")
class ReportTests {

	private static final Results RESULTS = new Results(
			Map.of("processors", "2", "command", "benchmarks/run.sh", "complete", "true"),
			List.of(new Row("uncontended-1", "redis", "raw", "throughput", 10_000, "locks/s", 1.0, 9_000, 11_000, 3),
					new Row("uncontended-1", "redis", "ours", "throughput", 9_300, "locks/s", 0.93, 9_000, 9_500, 3),
					new Row("uncontended-1", "zookeeper", "ours", "throughput", 950.4, "locks/s", null, 900, 1_000, 3)),
			List.of());

	@TempDir
	private Path project;

	@Test
	void tableHasALineForEachContenderAndAColumnForEachStore() {
		assertThat(MarkdownTable.of(Selection.of(RESULTS, "uncontended-1", "throughput"))).isEqualTo("""
				| locks/s | redis | zookeeper |
				|---|---:|---:|
				| **ours** | 9,300 (0.93) | 950 |
				| raw | 10,000 |  |
				""");
	}

	@Test
	void plotIsWellFormed() throws Exception {
		String plot = BarChart.of(Selection.of(RESULTS, "uncontended-1", "throughput"), "One <thread>");
		DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(plot)));
		assertThat(plot).contains("One &lt;thread> (locks/s)", ">9,300</text>");
	}

	@Test
	void pageKeepsItsTextAndReplacesWhatIsBetweenMarks() throws Exception {
		page("Before\n<!-- table uncontended-1 throughput -->\nold\n<!-- end -->\nAfter\n"
				+ "<!-- plot uncontended-1 throughput: One thread -->\n<!-- end -->\n<!-- about -->\n<!-- end -->\n");
		Map<String, String> files = PerformancePage.of(this.project).files();
		assertThat(files).containsOnlyKeys("images/performance/uncontended-1-throughput.svg", "performance.md");
		assertThat(files.get("performance.md"))
			.startsWith("Before\n<!-- table uncontended-1 throughput -->\n| locks/s |")
			.contains("<!-- end -->\nAfter\n", "![One thread](images/performance/uncontended-1-throughput.svg)",
					"- processors: 2")
			.doesNotContain("old");
	}

	@Test
	void pageThatAsksForWhatWasNotMeasuredIsRefused() throws Exception {
		page("<!-- table hot-key-1x16 throughput -->\n<!-- end -->\n");
		assertThatIllegalStateException().isThrownBy(() -> PerformancePage.of(this.project).files())
			.withMessage("docs/performance.md shows 'hot-key-1x16 throughput', which was never published: "
					+ "run benchmarks/run.sh hot-key-1x16, then --publish");
	}

	@Test
	void terminalShowsRatiosAndSpread() {
		assertThat(ResultsTable.of(RESULTS.rows())).contains("redis · uncontended-1")
			.containsPattern("ours +throughput +9,300 locks/s +0\\.93x +\\[9,000 … 9,500\\] of 3");
	}

	@Test
	void laterRunReplacesWhatItHasMeasured() {
		Results run = new Results(Map.of("processors", "2", "command", "benchmarks/run.sh uncontended-1 --store redis",
				"complete", "true"), List.of(row("redis", "raw", 20_000), row("redis", "redisson", 15_000)), List.of());
		Results all = Results.NONE.with(RESULTS).with(run).with(run);
		assertThat(all.rows()).extracting(Row::store, Row::contender, Row::value)
			.containsExactly(tuple("zookeeper", "ours", 950.4), tuple("redis", "raw", 20_000.0),
					tuple("redis", "redisson", 15_000.0));
		assertThat(all.about()).containsEntry("command",
				"benchmarks/run.sh; benchmarks/run.sh uncontended-1 --store redis");
	}

	@Test
	void runThatIsNotComparableIsNotPublished() {
		assertThatIllegalArgumentException().isThrownBy(() -> RESULTS.with(run("processors", "64")))
			.withMessageStartingWith("The last run was on another machine: processors is '64' there and '2' in");
		assertThatIllegalArgumentException().isThrownBy(() -> RESULTS.with(run("complete", "false")))
			.withMessage("The last run did not finish: repeat it, then --publish");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RESULTS.with(run("command", "benchmarks/run.sh --only ours")))
			.withMessageStartingWith("The last run was no whole one: repeat it without --only");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ours", "raw" })
	void scenarioWithoutOursOrTheRawClientIsRemoved(String contender) {
		Results run = new Results(RESULTS.about(), List.of(row("redis", "redisson", 1), row("h2", "ours", 2)),
				List.of(new Failure("redis", "uncontended-1", contender, "two holders at once")));
		Results all = RESULTS.with(run);
		assertThat(all.rows()).extracting(Row::store).containsExactly("zookeeper", "h2");
		assertThat(all.failures()).isEmpty();
	}

	@Test
	void otherLibraryThatFailedIsNamedInPlaceOfItsFigures() throws Exception {
		Failure failure = new Failure("redis", "uncontended-1", "redisson", "two holders at once");
		Results run = new Results(RESULTS.about(), List.of(row("redis", "ours", 1), row("redis", "redisson", 2)),
				List.of(failure));
		Results all = RESULTS.with(run);
		assertThat(all.rows()).extracting(Row::store, Row::contender)
			.containsExactly(tuple("zookeeper", "ours"), tuple("redis", "ours"));
		page("<!-- table uncontended-1 throughput -->\n<!-- end -->\n");
		all.write(this.project.resolve("docs/performance.json"));
		assertThat(PerformancePage.of(this.project).files().get("performance.md"))
			.contains("\n- redisson failed with redis: `two holders at once`\n<!-- end -->");
		assertThat(all.with(RESULTS).failures()).isEmpty();
	}

	private static Results run(String name, String value) {
		Map<String, String> about = new HashMap<>(RESULTS.about());
		about.put(name, value);
		return new Results(about, List.of(), List.of());
	}

	@Test
	void publishedRunIsAddedToTheResults() throws Exception {
		page("");
		Path run = this.project.resolve("results.json");
		new Results(RESULTS.about(), List.of(row("h2", "ours", 5_000)), List.of()).write(run);
		PerformancePage.of(this.project).add(run);
		assertThat(Results.read(this.project.resolve("docs/performance.json")).rows()).extracting(Row::store)
			.containsExactly("redis", "redis", "zookeeper", "h2");
	}

	private static Row row(String store, String contender, double value) {
		return new Row("uncontended-1", store, contender, "throughput", value, "locks/s", null, value, value, 1);
	}

	private void page(String text) throws Exception {
		Path docs = Files.createDirectories(this.project.resolve("docs"));
		Files.writeString(docs.resolve("performance.md"), text);
		RESULTS.write(docs.resolve("performance.json"));
	}

}
