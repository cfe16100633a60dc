package io.distributedlock.benchmarks.report;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

/**
 * Keeps the page, its plots and what the README quotes in step with
 * {@code docs/performance.json}.
 */
@Tag("full")
class PerformancePageTests {

	private static final String REMEDY = "%s is not what the results say: run benchmarks/run.sh --report";

	private final Path project = Path.of("").toAbsolutePath().getParent();

	private final Path docs = this.project.resolve("docs");

	@Test
	void pageAndPlotsAreMadeFromTheResults() throws Exception {
		for (Map.Entry<String, String> file : PerformancePage.of(this.project).files().entrySet()) {
			assertThat(this.project.resolve(file.getKey())).as(REMEDY, file.getKey())
				.content()
				.isEqualTo(file.getValue());
		}
	}

	@Test
	void eachReadmeQuotesThePage() throws Exception {
		Map<String, String> files = PerformancePage.of(this.project).files();
		assertThat(PerformancePage.READMES).map(files::get)
			.map((readme) -> readme.lines().filter((line) -> line.contains("](docs/performance.md)")).toList())
			.allSatisfy((lines) -> assertThat(lines).filteredOn((line) -> line.startsWith("|"))
				.singleElement(STRING)
				.matches(".*\\|( [\\d.]+ / [\\d.]+ \\|){4}"));
	}

	@Test
	void noPlotIsLeftOver() throws Exception {
		TreeSet<String> expected = new TreeSet<>(PerformancePage.of(this.project).files().keySet());
		expected.remove("docs/performance.md");
		expected.removeAll(PerformancePage.READMES);
		try (Stream<Path> images = Files.list(this.docs.resolve("images/performance"))) {
			assertThat(images.map((image) -> "docs/images/performance/" + image.getFileName()))
				.containsExactlyInAnyOrderElementsOf(expected);
		}
	}

	@Test
	void libraryThatIsBetterIsExplained() throws Exception {
		String page = Files.readString(this.docs.resolve("performance.md"));
		String reasons = page.substring(page.indexOf("<!-- better -->"));
		reasons = reasons.substring(reasons.indexOf("<!-- end -->"), reasons.indexOf("\n## "));
		assertThat(reasons).contains(new Comparison(Results.read(this.docs.resolve("performance.json"))).better()
			.stream()
			.map((contender) -> "- *" + contender + "*")
			.toList());
	}

}
