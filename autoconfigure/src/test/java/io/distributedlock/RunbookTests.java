package io.distributedlock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

class RunbookTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Path SOURCES = Path.of("src", "main", "java");

	private static final Pattern LOG_STATEMENT = Pattern.compile("\\blogger\\s*(\\.|::)\\s*(warn|error)\\b.*?\\);",
			Pattern.DOTALL);

	private static final Pattern CONCATENATION = Pattern.compile("\"\\s*\\+\\s*\"");

	private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

	private static final Pattern ERROR = Pattern.compile("LockError\\.([A-Z_]+)");

	/** Shorter texts may occur in the runbook by chance. */
	private static final int DISTINCTIVE = 12;

	@Test
	void everyAlertHasItsSection() throws IOException {
		List<String> headings = runbook().lines()
			.filter((line) -> line.startsWith("### DistributedLock"))
			.map((line) -> line.substring("### ".length()))
			.toList();
		assertThat(alerts()).isNotEmpty().extracting((alert) -> alert.get("alert")).containsExactlyElementsOf(headings);
	}

	@Test
	@SuppressWarnings("unchecked")
	void everyAlertSaysItsSeverityAndItsSection() throws IOException {
		assertThat(alerts()).allSatisfy((alert) -> {
			Map<String, String> annotations = (Map<String, String>) alert.get("annotations");
			assertThat((Map<String, String>) alert.get("labels")).extractingByKey("severity")
				.isIn("info", "warning", "critical");
			assertThat(annotations).containsKeys("summary", "description");
			assertThat(annotations.get("runbook_url"))
				.endsWith("/docs/runbook.md#" + alert.get("alert").toString().toLowerCase(Locale.ROOT));
		});
	}

	@Test
	void everyWarningOfTheLogIsExplained() throws IOException {
		String runbook = runbook().replaceAll("\\s+", " ");
		List<String> unexplained = new ArrayList<>();
		int statements = 0;
		for (Path file : sources()) {
			String source = CONCATENATION.matcher(Files.readString(file)).replaceAll("");
			for (String statement : LOG_STATEMENT.matcher(source).results().map(MatchResult::group).toList()) {
				statements++;
				List<String> words = words(statement);
				// A message that is made elsewhere in the file.
				if ((words.isEmpty() ? words(source) : words).stream().noneMatch(runbook::contains)) {
					unexplained.add(file.getFileName() + ": " + statement);
				}
			}
		}
		assertThat(unexplained).isEmpty();
		assertThat(statements).isGreaterThan(40);
	}

	/** The ids and the fixed texts of a message. */
	private static List<String> words(String code) {
		Stream<String> ids = ERROR.matcher(code)
			.results()
			.map((error) -> LockError.valueOf(error.group(1)).id() + ": ");
		Stream<String> texts = TEXT.matcher(code)
			.results()
			.map((text) -> text.group(1).replace("%s", "…").trim())
			.filter((text) -> text.length() >= DISTINCTIVE)
			.flatMap((text) -> Stream.of(text, firstSentence(text)));
		return Stream.concat(ids, texts).toList();
	}

	private static String firstSentence(String text) {
		return Arrays.stream(text.split("(?<=[.:;,]) "))
			.findFirst()
			.filter((start) -> start.length() >= DISTINCTIVE)
			.orElse(text);
	}

	private static String runbook() throws IOException {
		return Files.readString(DOCS.resolve("runbook.md"));
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> alerts() throws IOException {
		Map<String, List<Map<String, Object>>> file = new Yaml()
			.load(Files.readString(DOCS.resolve(Path.of("grafana", "alerts.yml"))));
		return file.values()
			.stream()
			.flatMap(List::stream)
			.flatMap((group) -> ((List<Map<String, Object>>) group.get("rules")).stream())
			.toList();
	}

	private static List<Path> sources() throws IOException {
		try (Stream<Path> files = Files.walk(SOURCES)) {
			return files.filter((file) -> file.toString().endsWith(".java")).sorted().toList();
		}
	}

}
