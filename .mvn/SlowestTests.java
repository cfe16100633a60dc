import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Prints the slowest test classes of all modules, from the reports written since the
 * build began. In CI it fails a build without the tests tagged "full" where a class takes
 * too much of that build.
 * <p>
 * A class may take a tenth of the processor time of all classes. That is a ratio, so
 * neither a slow machine nor what else runs on it fails the build. It counts only classes
 * whose processor time was noted, and judges none if just a few of them ran.
 */
public final class SlowestTests {

	private static final int MOST = 10;

	private static final double MOST_OF_ALL = 0.1;

	/** With fewer classes, each of them is a large part of all. */
	private static final int FEWEST_TO_JUDGE = 100;

	private SlowestTests() {
	}

	/**
	 * Prints the list.
	 * @param arguments the root of the project, the moment at which the build began, and
	 * the tags of the tests that it leaves out
	 * @throws IOException if a report cannot be read
	 */
	public static void main(String[] arguments) throws IOException {
		Instant begin = Instant.parse(arguments[1]);
		List<TestClass> slowest;
		try (Stream<Path> files = Files.walk(Path.of(arguments[0]), 4)) {
			slowest = files.filter((file) -> isReport(file, begin))
				.map(SlowestTests::read)
				.sorted(Comparator.comparingDouble(TestClass::seconds).reversed())
				.toList();
		}
		if (!slowest.isEmpty()) {
			System.out.println("The slowest test classes: seconds by the clock, of processor time (NaN: not measured), class");
			slowest.stream().limit(MOST).forEach(SlowestTests::print);
			if ("true".equals(System.getenv("CI")) && List.of(arguments[2].split(",")).contains("full")) {
				judge(slowest);
			}
		}
	}

	private static void judge(List<TestClass> classes) {
		List<TestClass> measured = classes.stream().filter((one) -> !Double.isNaN(one.processorSeconds())).toList();
		double most = MOST_OF_ALL * measured.stream().mapToDouble(TestClass::processorSeconds).sum();
		List<TestClass> tooSlow = measured.stream().filter((one) -> one.processorSeconds() > most).toList();
		if (measured.size() >= FEWEST_TO_JUDGE && !tooSlow.isEmpty()) {
			System.out.printf(Locale.ROOT,
					"The build fails: these take more than %.1f s, a tenth of the processor time of all classes. "
							+ "Make each quicker, or mark it @Tag(\"full\"); see CONTRIBUTING.md:%n",
					most);
			tooSlow.forEach(SlowestTests::print);
			System.exit(1);
		}
	}

	private static void print(TestClass one) {
		System.out.printf(Locale.ROOT, "%7.1f %7.1f  %s%n", one.seconds(), one.processorSeconds(), one.name());
	}

	private static boolean isReport(Path file, Instant begin) {
		try {
			return file.getParent().endsWith("target/surefire-reports")
					&& file.getFileName().toString().matches("TEST-.*\\.xml")
					&& !Files.getLastModifiedTime(file).toInstant().isBefore(begin);
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static TestClass read(Path report) {
		try (InputStream input = Files.newInputStream(report)) {
			XMLStreamReader reader = XMLInputFactory.newDefaultFactory().createXMLStreamReader(input);
			reader.nextTag();
			String name = reader.getAttributeValue(null, "name");
			Path processorTime = report.resolveSibling(name + ".processor-time");
			return new TestClass(name, Double.parseDouble(reader.getAttributeValue(null, "time")),
					Files.exists(processorTime) ? Double.parseDouble(Files.readString(processorTime)) : Double.NaN);
		}
		catch (IOException | XMLStreamException ex) {
			throw new IllegalStateException("The report " + report + " cannot be read", ex);
		}
	}

	/** Its processor time is not a number where nobody has noted it. */
	private record TestClass(String name, double seconds, double processorSeconds) {
	}

}
