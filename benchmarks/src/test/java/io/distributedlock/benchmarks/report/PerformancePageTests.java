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
			assertThat(this.docs.resolve(file.getKey())).as(REMEDY, file.getKey()).content().isEqualTo(file.getValue());
		}
	}

	@Test
	void noPlotIsLeftOver() throws Exception {
		TreeSet<String> expected = new TreeSet<>(PerformancePage.of(this.project).files().keySet());
		expected.remove("performance.md");
		try (Stream<Path> images = Files.list(this.docs.resolve("images/performance"))) {
			assertThat(images.map((image) -> "images/performance/" + image.getFileName()))
				.containsExactlyInAnyOrderElementsOf(expected);
		}
	}

	@Test
	void readmeQuotesThePageInBothLanguages() throws Exception {
		Results results = Results.read(this.docs.resolve("performance.json"));
		String line = Stream.of("ours", "shedlock", "redisson", "spring-integration")
			.map((contender) -> ratio(results, "uncontended-1", contender) + " / "
					+ ratio(results, "uncontended-16", contender))
			.reduce(" |", (text, cell) -> text + " " + cell + " |");
		assertThat(Files.readString(this.project.resolve("README.md")))
			.contains("| [share of the bare Redis client's throughput](docs/performance.md), 1 / 16 threads" + line);
		assertThat(Files.readString(this.project.resolve("README.zh-CN.md")))
			.contains("| [相对裸 Redis 客户端的吞吐量](docs/performance.md)，1 / 16 线程" + line);
	}

	private static String ratio(Results results, String scenario, String contender) {
		List<Row> rows = Selection.of(results, scenario, "throughput")
			.rows()
			.stream()
			.filter((row) -> row.store().equals("redis") && row.contender().equals(contender))
			.toList();
		assertThat(rows).hasSize(1);
		return Numbers.text(rows.get(0).ratioToRaw());
	}

}
