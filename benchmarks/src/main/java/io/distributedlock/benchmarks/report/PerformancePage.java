package io.distributedlock.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.distributedlock.benchmarks.scenario.Scenarios;

/**
 * The page {@code docs/performance.md}. People write its text; what stands between marks
 * is made from {@code docs/performance.json}:
 *
 * <pre>
 * &lt;!-- table uncontended-1 throughput --&gt;
 * &lt;!-- plot uncontended-1 throughput: One thread --&gt;
 * &lt;!-- costs in-process --&gt;
 * &lt;!-- better --&gt;
 * &lt;!-- about --&gt;
 * </pre>
 *
 * each up to the next {@code <!-- end -->}, and inside a sentence how many times better
 * one contender is than another:
 *
 * <pre>
 * &lt;!-- times uncontended-16 throughput redis ours redisson --&gt;2.7&lt;!-- end --&gt;
 * </pre>
 *
 * A line of each README quotes the page.
 */
public final class PerformancePage {

	private static final Pattern MARK = Pattern.compile(
			"(?s)<!-- (table|plot|costs|better|about)(?: ([\\w-]+))?(?: ([\\w-]+))?(?:: ([^\\n]*?))? -->\\n.*?<!-- end -->");

	private static final Pattern TIMES = Pattern
		.compile("<!-- times ([\\w-]+) ([\\w-]+) ([\\w-]+) ([\\w-]+) ([\\w-]+) -->[^<]*<!-- end -->");

	private static final String NOT_MEASURED = "Not measured yet.\n";

	private static final Pattern README_LINE = Pattern
		.compile("(?m)^(\\| \\[[^]|]+\\]\\(docs/performance\\.md\\)[^|]+\\|).*$");

	/** The same page in two languages. */
	static final List<String> READMES = List.of("README.md", "README.zh-CN.md");

	/** The columns of a README. */
	private static final List<String> README_CONTENDERS = List.of("ours", "shedlock", "redisson", "spring-integration");

	private static final String RESULTS = "performance.json";

	private final Path project;

	private final Path docs;

	private PerformancePage(Path project) {
		this.project = project;
		this.docs = project.resolve("docs");
	}

	/** Returns the page of a project. */
	public static PerformancePage of(Path project) {
		return new PerformancePage(project);
	}

	/**
	 * Adds the results of a run to those of the page, or puts those of a run of
	 * everything in their place.
	 * @param run the file with the results of the run
	 * @return what failed in the run: another library is named on the page, a scenario of
	 * which ours or the raw client failed is left out
	 * @throws IllegalArgumentException if the run cannot be published
	 */
	public List<Failure> add(Path run) {
		Path published = this.docs.resolve(RESULTS);
		Results added = Results.read(run);
		boolean replaces = added.isOfEverything() || !Files.exists(published);
		Results before = replaces ? Results.NONE : Results.read(published);
		before.with(added).write(published);
		return added.failures();
	}

	/**
	 * Writes tables and plots.
	 * @return the files that were written, below the project
	 */
	public Set<String> write() {
		try {
			Map<String, String> files = files();
			for (Map.Entry<String, String> file : files.entrySet()) {
				Path path = this.project.resolve(file.getKey());
				Files.createDirectories(path.getParent());
				Files.writeString(path, file.getValue());
			}
			return files.keySet();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the files as they should be, by their path below the project. */
	Map<String, String> files() throws IOException {
		Results results = Results.read(this.docs.resolve(RESULTS));
		Map<String, String> files = new LinkedHashMap<>();
		Matcher marks = MARK.matcher(Files.readString(this.docs.resolve("performance.md")));
		StringBuilder page = new StringBuilder();
		while (marks.find()) {
			String mark = marks.group().substring(0, marks.group().indexOf('\n') + 1);
			marks.appendReplacement(page,
					Matcher.quoteReplacement(mark + content(marks, results, files) + "<!-- end -->"));
		}
		marks.appendTail(page);
		files.put("docs/performance.md", times(page.toString(), new Comparison(results)));
		for (String readme : READMES) {
			String text = Files.readString(this.project.resolve(readme));
			files.put(readme, README_LINE.matcher(text).replaceAll("$1" + readmeCells(results)));
		}
		return files;
	}

	private static String times(String page, Comparison comparison) {
		return TIMES.matcher(page).replaceAll((mark) -> {
			Double times = comparison.times(mark.group(1), mark.group(2), mark.group(3), mark.group(4), mark.group(5));
			String opening = mark.group().substring(0, mark.group().indexOf("-->") + 3);
			return opening + ((times != null) ? Numbers.text(times) : "?") + "<!-- end -->";
		});
	}

	private static String readmeCells(Results results) {
		return README_CONTENDERS.stream()
			.map((contender) -> " " + share(results, "uncontended-1", contender) + " / "
					+ share(results, "uncontended-16", contender) + " |")
			.collect(Collectors.joining());
	}

	private static String share(Results results, String scenario, String contender) {
		Row row = Selection.of(results, scenario, "throughput").find("redis", contender);
		return (row != null && row.ratioToRaw() != null) ? Numbers.text(row.ratioToRaw()) : "?";
	}

	private static String failures(Results results, Selection selection) {
		String failures = results.failures()
			.stream()
			.filter((failure) -> selection.rows().stream().anyMatch(failure::isAbout))
			.map((failure) -> "- " + failure.contender() + " failed with " + failure.store() + ": `" + failure.reason()
					+ "`\n")
			.collect(Collectors.joining());
		return failures.isEmpty() ? "" : "\n" + failures;
	}

	private static String content(Matcher mark, Results results, Map<String, String> files) {
		if (mark.group(1).equals("about")) {
			StringBuilder text = new StringBuilder();
			results.runs().forEach((run, stores) -> text.append("- " + run + ", " + String.join(", ", stores) + "\n"));
			results.about().forEach((name, value) -> text.append("- " + name + ": " + value + "\n"));
			return text.toString();
		}
		if (mark.group(1).equals("costs")) {
			return MarkdownTable.ofCosts(results, mark.group(2));
		}
		if (mark.group(1).equals("better")) {
			return new Comparison(results).table();
		}
		Selection selection = Selection.of(results, Scenarios.of(mark.group(2)).name(), mark.group(3));
		if (selection.rows().isEmpty()) {
			return NOT_MEASURED;
		}
		if (mark.group(1).equals("table")) {
			return MarkdownTable.of(results, mark.group(2), mark.group(3)) + failures(results, selection);
		}
		String title = String.valueOf(mark.group(4));
		String image = "images/performance/" + mark.group(2) + "-" + mark.group(3) + ".svg";
		files.put("docs/" + image, BarChart.of(selection, title));
		return "![" + title + "](" + image + ")\n";
	}

}
