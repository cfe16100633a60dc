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
 * Prints the slowest test classes of all modules, from the reports that Surefire wrote
 * since the build began.
 */
public final class SlowestTests {

	private static final int MOST = 10;

	private SlowestTests() {
	}

	public static void main(String[] arguments) throws IOException {
		Instant begin = Instant.parse(arguments[1]);
		List<TestClass> slowest;
		try (Stream<Path> files = Files.walk(Path.of(arguments[0]), 4)) {
			slowest = files.filter((file) -> isReport(file, begin))
				.map(SlowestTests::read)
				.sorted(Comparator.comparingDouble(TestClass::seconds).reversed())
				.limit(MOST)
				.toList();
		}
		if (!slowest.isEmpty()) {
			System.out.println("The slowest test classes, in seconds:");
			slowest.forEach((one) -> System.out.printf(Locale.ROOT, "%7.1f  %s%n", one.seconds(), one.name()));
		}
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
			return new TestClass(reader.getAttributeValue(null, "name"),
					Double.parseDouble(reader.getAttributeValue(null, "time")));
		}
		catch (IOException | XMLStreamException ex) {
			throw new IllegalStateException("The report " + report + " cannot be read", ex);
		}
	}

	private record TestClass(String name, double seconds) {

	}

}
