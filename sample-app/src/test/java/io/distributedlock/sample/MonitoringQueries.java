package io.distributedlock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The queries of the dashboard and of the alert rules, and what they need of a scrape.
 */
final class MonitoringQueries {

	private static final Path DIRECTORY = Path.of("..", "docs", "grafana");

	/** What is in a query besides metrics: labels, ranges, and the words of PromQL. */
	private static final Pattern NO_METRIC = Pattern
		.compile("\\{[^}]*}|\\[[^]]*]|\"[^\"]*\"" + "|\\b(by|without|on|ignoring|group_left|group_right)\\s*\\([^)]*\\)"
				+ "|\\b(and|or|unless|bool|offset|inf|nan)\\b|\\$\\w+|\\b\\d[\\w.]*");

	private static final Pattern METRIC = Pattern.compile("\\b[a-zA-Z_:][\\w:]*\\b(?!\\s*\\()");

	private static final Pattern VARIABLE = Pattern.compile("label_values\\((.+),\\s*(\\w+)\\)");

	private static final Pattern SELECTOR = Pattern.compile("([a-zA-Z_:][\\w:]*)\\{([^}]*)}");

	private static final Pattern FIXED_LABEL = Pattern.compile("\\w+=\"[^\"$]+\"");

	private MonitoringQueries() {
	}

	static List<String> dashboard() throws IOException {
		JsonNode root = new JsonMapper().readTree(Files.readString(DIRECTORY.resolve("dashboard.json")));
		List<String> queries = new ArrayList<>(root.findValuesAsString("expr"));
		for (JsonNode variable : root.at("/templating/list")) {
			Matcher values = VARIABLE.matcher(variable.path("definition").asString(""));
			if (values.matches()) {
				queries.add(values.group(1));
			}
		}
		return queries;
	}

	@SuppressWarnings("unchecked")
	static List<String> alerts() throws IOException {
		Map<String, List<Map<String, Object>>> file = new Yaml()
			.load(Files.readString(DIRECTORY.resolve("alerts.yml")));
		return file.getOrDefault("groups", List.of())
			.stream()
			.flatMap((group) -> ((List<Map<String, Object>>) group.get("rules")).stream())
			.map((rule) -> rule.get("expr").toString())
			.toList();
	}

	static Set<String> metrics(List<String> queries) {
		Set<String> metrics = new TreeSet<>();
		queries.forEach((query) -> METRIC.matcher(NO_METRIC.matcher(query).replaceAll(" "))
			.results()
			.map(MatchResult::group)
			.forEach(metrics::add));
		return metrics;
	}

	/** Metrics with the labels that a query gives them, such as an outcome. */
	static Set<LabelledMetric> labelledMetrics(List<String> queries) {
		Set<LabelledMetric> labelled = new LinkedHashSet<>();
		for (String query : queries) {
			SELECTOR.matcher(query)
				.results()
				.forEach((selector) -> FIXED_LABEL.matcher(selector.group(2))
					.results()
					.forEach((label) -> labelled.add(new LabelledMetric(selector.group(1), label.group()))));
		}
		return labelled;
	}

	/** A metric, and a label with its value as in a scrape. */
	record LabelledMetric(String metric, String label) {

		boolean isIn(String sample) {
			return sample.startsWith(this.metric + "{") && sample.contains(this.label);
		}

	}

}
