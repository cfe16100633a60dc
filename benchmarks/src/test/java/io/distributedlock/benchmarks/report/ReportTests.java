package io.distributedlock.benchmarks.report;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class ReportTests {

	private static final Results RESULTS = new Results(Map.of("processors", "2"),
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
		assertThat(files).containsOnlyKeys("images/uncontended-1-throughput.svg", "performance.md");
		assertThat(files.get("performance.md"))
			.startsWith("Before\n<!-- table uncontended-1 throughput -->\n| locks/s |")
			.contains("<!-- end -->\nAfter\n", "![One thread](images/uncontended-1-throughput.svg)", "- processors: 2")
			.doesNotContain("old");
	}

	@Test
	void pageThatAsksForWhatWasNotMeasuredIsRefused() throws Exception {
		page("<!-- table hot-key-1x16 throughput -->\n<!-- end -->\n");
		assertThatIllegalStateException().isThrownBy(() -> PerformancePage.of(this.project).files())
			.withMessage("There are no results for: hot-key-1x16 throughput");
	}

	@Test
	void terminalShowsRatiosAndSpread() {
		assertThat(ResultsTable.of(RESULTS.rows())).contains("redis · uncontended-1")
			.containsPattern("ours +throughput +9,300 locks/s +0\\.93x +\\[9,000 … 9,500\\] of 3");
	}

	private void page(String text) throws Exception {
		Path docs = Files.createDirectories(this.project.resolve("docs"));
		Files.writeString(docs.resolve("performance.md"), text);
		RESULTS.write(docs.resolve("performance.json"));
	}

}
