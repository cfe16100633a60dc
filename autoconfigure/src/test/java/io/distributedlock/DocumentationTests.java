package io.distributedlock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what the pages refer to: other pages and their headings, properties, the project
 * of the first steps, the Chinese pages' code and figures, and the project's home.
 */
class DocumentationTests {

	private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

	private static final Pattern CODE = Pattern.compile("(?ms)^ *```(\\w*)\n(.*?)^ *```|`[^`\n]*`");

	private static final Pattern CODE_OR_FIGURE = Pattern.compile("(" + CODE + "|(?:DL-)?\\d+(?:[.,]\\d+)*)");

	private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

	private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

	private static final Pattern PROPERTY = Pattern
		.compile("(?<!/)\\bdistributed-lock\\.([a-z][a-z.-]*[a-z])(?![\\w/]|-\\d)");

	private static final Pattern PROPERTY_ROW = Pattern.compile("(?m)^\\| `([a-z][a-z.-]*)` \\|");

	/** Names of the build, which no application sets. */
	private static final Set<String> BUILD = Set.of("home", "version");

	private static List<Path> pages() throws IOException {
		Predicate<String> page = (file) -> file.endsWith(".md");
		// Not all folders: tests beside this one create and delete files in "target".
		List<Path> pages = new ArrayList<>(files(ROOT, 1, page));
		pages.addAll(files(ROOT.resolve("docs"), 9, page));
		pages.addAll(files(ROOT.resolve("sample-app"), 1, page));
		return pages;
	}

	private static List<Path> files(Path folder, int depth, Predicate<String> filter) throws IOException {
		try (Stream<Path> files = Files.walk(folder, depth)) {
			return files.filter((file) -> filter.test(file.toString())).sorted().toList();
		}
	}

	@ParameterizedTest
	@MethodSource("pages")
	void everyLinkLeadsToAFileAndItsHeading(Path page) throws IOException {
		List<String> broken = new ArrayList<>();
		for (String link : matches(LINK, withoutCode(page))) {
			if (!link.matches("(https?|mailto):.*")) {
				String[] parts = link.split("#", 2);
				Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
				if (!Files.exists(target) || (parts.length == 2 && !anchors(target).contains(parts[1]))) {
					broken.add(link);
				}
			}
		}
		assertThat(broken).isEmpty();
	}

	/** Headings as GitHub names them: a repeated one gets a number. */
	private static Set<String> anchors(Path page) throws IOException {
		Map<String, Integer> repetitions = new HashMap<>();
		Set<String> anchors = new TreeSet<>();
		String text = Pattern.compile("(?ms)^ *```.*?^ *```").matcher(Files.readString(page)).replaceAll("");
		for (String heading : matches(HEADING, text)) {
			String anchor = heading.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
				.toLowerCase(Locale.ROOT)
				.replaceAll("[^\\p{L}\\p{N}_ -]", "")
				.replace(' ', '-');
			int number = repetitions.merge(anchor, 1, Integer::sum) - 1;
			anchors.add((number > 0) ? anchor + "-" + number : anchor);
		}
		return anchors;
	}

	@ParameterizedTest
	@MethodSource("pages")
	void everyPropertyExists(Path page) throws IOException {
		// History, and names that are no more.
		if (!page.toString().matches(".*(CHANGELOG|renames-0\\.1|/decisions/.*)\\.md")) {
			Set<String> known = new TreeSet<>(
					matches(PROPERTY_ROW, Files.readString(ROOT.resolve("docs/properties.md"))));
			assertThat(matches(PROPERTY, Files.readString(page))).allMatch((name) -> BUILD.contains(name)
					|| known.contains(name) || known.stream().anyMatch((property) -> property.startsWith(name + ".")));
		}
	}

	@Test
	void firstStepsAreTheProjectThatIsBuiltOutside() throws IOException {
		Path project = ROOT.resolve("starter/src/it/consumer");
		String sources = files(project, 9, (file) -> file.matches(".*\\.(java|properties|xml)")).stream()
			.map(DocumentationTests::read)
			.collect(Collectors.joining("\n"));
		List<MatchResult> blocks = blocks("docs/getting-started.md");
		assertThat(blocks.stream().filter((block) -> block.group(1).matches("java|properties")).toList()).hasSize(3)
			.allSatisfy((block) -> assertThat(words(sources)).contains(words(block.group(2))));
		String pom = block(blocks, "xml");
		String gradle = block(blocks, "kotlin");
		assertThat(matches(Pattern.compile("<artifactId>(?!shop|.*-parent)(.*?)</artifactId>"), pom)).hasSize(3)
			.allSatisfy((artifact) -> assertThat(sources).contains("<artifactId>" + artifact + "</artifactId>"))
			.allSatisfy((artifact) -> assertThat(gradle).contains(":" + artifact));
		assertThat(pom).contains("<version>" + buildProperty("revision") + "</version>",
				"<version>" + buildProperty("spring-boot.version") + "</version>");
		assertThat(gradle).contains(":" + buildProperty("revision") + '"',
				'"' + buildProperty("spring-boot.version") + '"');
	}

	@Test
	void readmeIsTheSameInBothLanguages() throws IOException {
		String english = Files.readString(ROOT.resolve("README.md"));
		String chinese = Files.readString(ROOT.resolve("README.zh-CN.md"));
		assertThat(matches(LINK, chinese))
			.containsExactlyElementsOf(matches(LINK, english).stream().map(DocumentationTests::chineseLink).toList());
		assertThat(statements("README.zh-CN.md")).isEqualTo(statements("README.md"));
		assertThat(rows(chinese)).isEqualTo(rows(english));
	}

	/** The Chinese page in place of an English one, if there is one. */
	private static String chineseLink(String link) {
		String page = link.equals("README.zh-CN.md") ? "README.md" : link.replaceFirst("^docs/", "docs/zh-CN/");
		return Files.exists(ROOT.resolve(page)) ? page : link;
	}

	private static List<Path> chinesePages() throws IOException {
		return files(ROOT.resolve("docs/zh-CN"), 1, (file) -> file.endsWith(".md"));
	}

	@ParameterizedTest
	@MethodSource("chinesePages")
	void chinesePageHasOnlyCodeAndFiguresOfItsEnglishPage(Path page) throws IOException {
		String chinese = Files.readString(page);
		String english = Files.readString(ROOT.resolve("docs").resolve(page.getFileName()));
		assertThat(matches(CODE_OR_FIGURE, chinese)).isNotEmpty().isSubsetOf(matches(CODE_OR_FIGURE, english));
		assertThat(rows(chinese)).isEqualTo(rows(english));
		assertThat(matches(LINK, english)).contains("zh-CN/" + page.getFileName());
	}

	private static long rows(String page) {
		return page.lines().filter((line) -> line.startsWith("|")).count();
	}

	/** The code of a page without its comments. */
	private static List<String> statements(String page) throws IOException {
		return blocks(page).stream()
			.map((block) -> block.group(2).replaceAll("(//| # |/\\*\\*).*", "").replaceAll("  +#.*", ""))
			.map(DocumentationTests::words)
			.toList();
	}

	@Test
	void workflowsAndTemplatesAreYaml() throws IOException {
		List<Path> files = files(ROOT.resolve(".github"), 9, (file) -> file.endsWith(".yml"));
		assertThat(files).hasSizeGreaterThan(3)
			.allSatisfy((file) -> assertThat(new Yaml().<Object>load(Files.readString(file))).isInstanceOf(Map.class));
		assertThat(read(ROOT.resolve(".github/workflows/build.yml"))).contains(".ci/run ${{ matrix.jdk }}");
	}

	@Test
	void homeIsTheSameEverywhere() throws IOException {
		String home = buildProperty("distributed-lock.home");
		for (String file : List.of("docs/grafana/alerts.yml", "sample-app/src/main/resources/static/index.html")) {
			assertThat(matches(Pattern.compile("(https://[^\\s\"]+)/blob/main/"), read(ROOT.resolve(file)))).as(file)
				.isNotEmpty()
				.containsOnly(home);
		}
	}

	private static String buildProperty(String name) {
		return matches(Pattern.compile("<" + Pattern.quote(name) + ">(.*?)</"), read(ROOT.resolve("pom.xml"))).get(0);
	}

	private static List<MatchResult> blocks(String page) throws IOException {
		return CODE.matcher(Files.readString(ROOT.resolve(page)))
			.results()
			.filter((block) -> block.group(1) != null)
			.toList();
	}

	private static String block(List<MatchResult> blocks, String language) {
		return blocks.stream().filter((block) -> block.group(1).equals(language)).findFirst().orElseThrow().group(2);
	}

	private static String withoutCode(Path page) throws IOException {
		return CODE.matcher(Files.readString(page)).replaceAll("");
	}

	private static List<String> matches(Pattern pattern, String text) {
		return pattern.matcher(text).results().map((match) -> match.group(1)).toList();
	}

	private static String words(String code) {
		return code.replaceAll("\\s+", " ").trim();
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
