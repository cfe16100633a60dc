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

/**
 * The page {@code docs/performance.md}. People write its text; what stands between marks
 * is made from {@code docs/performance.json}:
 *
 * <pre>
 * &lt;!-- table uncontended-1 throughput --&gt;
 * &lt;!-- plot uncontended-1 throughput: One thread --&gt;
 * &lt;!-- costs in-process --&gt;
 * &lt;!-- about --&gt;
 * </pre>
 *
 * each up to the next {@code <!-- end -->}.
 */
public final class PerformancePage {

	private static final Pattern MARK = Pattern.compile(
			"(?s)<!-- (table|plot|costs|about)(?: ([\\w-]+))?(?: ([\\w-]+))?(?:: ([^\\n]*?))? -->\\n.*?<!-- end -->");

	private static final String RESULTS = "performance.json";

	private final Path docs;

	private PerformancePage(Path docs) {
		this.docs = docs;
	}

	/** Returns the page of a project. */
	public static PerformancePage of(Path project) {
		return new PerformancePage(project.resolve("docs"));
	}

	/**
	 * Adds the results of a run to those of the page.
	 * @param run the file with the results of the run
	 * @return what failed in the run: another library is named on the page, a scenario of
	 * which ours or the raw client failed is left out
	 * @throws IllegalArgumentException if the run cannot be published
	 */
	public List<Failure> add(Path run) {
		Path published = this.docs.resolve(RESULTS);
		Results before = Files.exists(published) ? Results.read(published) : Results.NONE;
		Results added = Results.read(run);
		before.with(added).write(published);
		return added.failures();
	}

	/**
	 * Writes tables and plots.
	 * @return the files that were written, below the docs
	 * @throws IllegalStateException if the page asks for what was not published
	 */
	public Set<String> write() {
		try {
			Map<String, String> files = files();
			for (Map.Entry<String, String> file : files.entrySet()) {
				Path path = this.docs.resolve(file.getKey());
				Files.createDirectories(path.getParent());
				Files.writeString(path, file.getValue());
			}
			return files.keySet();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the page and its plots as they should be, by their path below the docs. */
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
		files.put("performance.md", page.toString());
		return files;
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
			results.about()
				.forEach((name, value) -> text.append("- ").append(name).append(": ").append(value).append('\n'));
			return text.toString();
		}
		if (mark.group(1).equals("costs")) {
			return MarkdownTable.ofCosts(results, mark.group(2));
		}
		Selection selection = Selection.of(results, mark.group(2), mark.group(3));
		if (selection.rows().isEmpty()) {
			throw new IllegalStateException("docs/performance.md shows '" + mark.group(2) + " " + mark.group(3)
					+ "', which was never published: run benchmarks/run.sh " + mark.group(2) + ", then --publish");
		}
		if (mark.group(1).equals("table")) {
			return MarkdownTable.of(selection) + failures(results, selection);
		}
		String title = String.valueOf(mark.group(4));
		String image = "images/performance/" + mark.group(2) + "-" + mark.group(3) + ".svg";
		files.put(image, BarChart.of(selection, title));
		return "![" + title + "](" + image + ")\n";
	}

}
