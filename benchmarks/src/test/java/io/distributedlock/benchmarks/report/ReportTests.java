package io.distributedlock.benchmarks.report;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
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
		assertThat(MarkdownTable.of(RESULTS, "uncontended-1", "throughput")).isEqualTo("""
				| locks/s | redis | zookeeper |
				|---|---:|---:|
				| **ours** | 9,300 (0.93) | 950 |
				| raw | 10,000 |  |
				""");
	}

	@Test
	void tableHasWarmAndColdFiguresSideBySide() {
		List<Row> rows = new ArrayList<>(RESULTS.rows());
		rows.add(new Row("uncontended-1", "redis", "ours", "throughput-cold", 2_100, "locks/s", 0.84, 2_000, 2_200, 3));
		rows.add(new Row("uncontended-1", "redis", "raw", "throughput-cold", 2_500, "locks/s", 1.0, 2_400, 2_600, 3));
		Results results = new Results(RESULTS.about(), rows, List.of());
		assertThat(MarkdownTable.of(results, "uncontended-1", "throughput")).isEqualTo("""
				| locks/s, warm / cold | redis | zookeeper |
				|---|---:|---:|
				| **ours** | 9,300 / 2,100 (0.93 / 0.84) | 950 |
				| raw | 10,000 / 2,500 |  |
				""");
	}

	@Test
	void librariesThatAreBetterAreNamedWithTheirFactors() {
		Results results = new Results(RESULTS.about(),
				List.of(row("redis", "ours", 100), row("redis", "shedlock", 104), row("redis", "redisson", 106),
						row("h2", "ours", 100), row("h2", "shedlock", 250), time("ours", 400), time("curator", 50),
						time("spring-integration", 800)),
				List.of());
		Comparison comparison = new Comparison(results);
		assertThat(comparison.better()).containsExactlyInAnyOrder("redisson", "shedlock", "curator");
		assertThat(comparison.table()).isEqualTo("""
				| times as good as ours | redis | redis-cluster | postgresql | mysql | mariadb | h2 | zookeeper |
				|---|---|---|---|---|---|---|---|
				| free locks, one thread | redisson 1.06 |  |  |  |  | shedlock 2.50 |  |
				| re-entry |  |  |  |  |  |  | curator 8 |
				""");
	}

	private static Row time(String contender, double nanos) {
		return new Row("reentry", "zookeeper", contender, "time", nanos, "ns", null, nanos, nanos, 1);
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
		assertThat(files).containsOnlyKeys("docs/images/performance/uncontended-1-throughput.svg",
				"docs/performance.md", "README.md", "README.zh-CN.md");
		assertThat(files.get("docs/performance.md"))
			.startsWith("Before\n<!-- table uncontended-1 throughput -->\n| locks/s |")
			.contains("<!-- end -->\nAfter\n", "![One thread](images/performance/uncontended-1-throughput.svg)",
					"- processors: 2")
			.doesNotContain("old");
	}

	@Test
	void pageSaysWhatWasNotMeasured() throws Exception {
		page("<!-- table hot-key-1x16 throughput -->\n<!-- end -->\n");
		assertThat(PerformancePage.of(this.project).files()).containsEntry("docs/performance.md",
				"<!-- table hot-key-1x16 throughput -->\nNot measured yet.\n<!-- end -->\n");
	}

	@Test
	void pageThatAsksForAScenarioThatDoesNotExistIsRefused() throws Exception {
		page("<!-- table hot-cakes throughput -->\n<!-- end -->\n");
		assertThatIllegalArgumentException().isThrownBy(() -> PerformancePage.of(this.project).files())
			.withMessageStartingWith("There is no scenario 'hot-cakes', only ");
	}

	@Test
	void sentencesQuoteFigures() throws Exception {
		page("It has <!-- times uncontended-1 throughput redis ours raw -->?<!-- end --> of it, and"
				+ " <!-- times uncontended-1 throughput redis raw ours -->0<!-- end --> of that, and"
				+ " <!-- times uncontended-1 throughput h2 ours raw --><!-- end -->.");
		Map<String, String> files = PerformancePage.of(this.project).files();
		assertThat(files.get("docs/performance.md"))
			.isEqualTo("It has <!-- times uncontended-1 throughput redis ours raw -->0.93<!-- end --> of it, and"
					+ " <!-- times uncontended-1 throughput redis raw ours -->1.08<!-- end --> of that, and"
					+ " <!-- times uncontended-1 throughput h2 ours raw -->?<!-- end -->.");
		assertThat(files.get("README.zh-CN.md")).contains("1 / 16 线程 | 0.93 / ? | ? / ? |");
		assertThat(files.get("README.md")).isEqualTo(
				"""
						Before
						| [share of the bare Redis client's throughput](docs/performance.md), 1 / 16 | 0.93 / ? | ? / ? | ? / ? | ? / ? |
						After
						""");
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
		assertThat(all.about()).containsOnlyKeys("processors");
	}

	@Test
	void runsOfOneStoreEachMakeOneConsistentPage() throws Exception {
		Results all = Results.NONE.with(run("2026-11-23 uncontended-1 reentry --rounds 3 --store redis --store h2"))
			.with(run("2026-11-30 --all --store redis"))
			.with(run("2026-11-30 --all --store zookeeper"));
		assertThat(all.runs()).hasToString("{2026-11-23: `benchmarks/run.sh … --rounds 3`=[h2],"
				+ " 2026-11-30: `benchmarks/run.sh --all`=[redis, zookeeper]}");
		page("<!-- about -->\n<!-- end -->\n");
		all.write(this.project.resolve("docs/performance.json"));
		assertThat(PerformancePage.of(this.project).files().get("docs/performance.md")).isEqualTo("""
				<!-- about -->
				- 2026-11-23: `benchmarks/run.sh … --rounds 3`, h2
				- 2026-11-30: `benchmarks/run.sh --all`, redis, zookeeper
				- processors: 2
				<!-- end -->
				""");
		assertThat(all.with(run("2026-12-01 reentry --store h2")).runs().keySet())
			.noneMatch((run) -> run.startsWith("2026-11-23"));
	}

	@Test
	void runOfEverythingInAStoreReplacesAllResultsOfThisStoreAlone() {
		Results run = new Results(
				Map.of("processors", "2", "command", "benchmarks/run.sh --all --store redis", "complete", "true"),
				List.of(new Row("reentry", "redis", "ours", "time", 400, "ns", null, 400, 400, 3)), List.of());
		assertThat(RESULTS.with(run).rows()).extracting(Row::scenario, Row::store)
			.containsExactly(tuple("uncontended-1", "zookeeper"), tuple("reentry", "redis"));
	}

	/**
	 * Returns the results of a run that has measured one scenario in each of its stores.
	 */
	private static Results run(String run) {
		List<Row> rows = Pattern.compile("--store (\\S+)")
			.matcher(run)
			.results()
			.map((store) -> row(store.group(1), "ours", 1).of(run))
			.toList();
		return new Results(
				Map.of("processors", "2", "command", run.replaceFirst("\\S+", "benchmarks/run.sh"), "complete", "true"),
				rows, List.of());
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

	@Test
	void runOfEverythingReplacesAllResults() throws Exception {
		page("");
		add("--all --store h2");
		assertThat(published()).extracting(Row::store).containsExactly("redis", "redis", "zookeeper", "h2");
		add("--all");
		assertThat(published()).extracting(Row::store).containsExactly("h2");
	}

	private void add(String arguments) {
		Map<String, String> about = new HashMap<>(RESULTS.about());
		about.put("command", "benchmarks/run.sh " + arguments);
		Path run = this.project.resolve("results.json");
		new Results(about, List.of(row("h2", "ours", 5_000)), List.of()).write(run);
		PerformancePage.of(this.project).add(run);
	}

	private List<Row> published() {
		return Results.read(this.project.resolve("docs/performance.json")).rows();
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
		assertThat(PerformancePage.of(this.project).files().get("docs/performance.md"))
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
		add("uncontended-1");
		assertThat(published()).extracting(Row::store).containsExactly("redis", "redis", "zookeeper", "h2");
	}

	private static Row row(String store, String contender, double value) {
		return new Row("uncontended-1", store, contender, "throughput", value, "locks/s", null, value, value, 1);
	}

	private void page(String text) throws Exception {
		Path docs = Files.createDirectories(this.project.resolve("docs"));
		Files.writeString(docs.resolve("performance.md"), text);
		RESULTS.write(docs.resolve("performance.json"));
		Files.writeString(this.project.resolve("README.md"),
				"Before\n| [share of the bare Redis client's throughput](docs/performance.md), 1 / 16 | 0 |\nAfter\n");
		Files.writeString(this.project.resolve("README.zh-CN.md"),
				"| [相对裸 Redis 客户端的吞吐量](docs/performance.md)，1 / 16 线程 | 0 |\n");
	}

}
