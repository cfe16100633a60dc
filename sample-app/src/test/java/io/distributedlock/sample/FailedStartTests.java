package io.distributedlock.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** A start that fails says why in one line, and leaves no file behind. */
@Tag("full")
class FailedStartTests {

	private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	private static final long MINUTES = 5;

	@TempDir
	private Path directory;

	@Test
	void aPortThatIsTakenIsNamed() throws Exception {
		try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			assertThat(consoleOfFailedStart(Map.of("SERVER_PORT", Integer.toString(other.getLocalPort()))))
				.singleElement()
				.asString()
				.contains("Port " + other.getLocalPort() + " is taken by another program");
		}
	}

	@Test
	@Tag("matrix")
	void workersWithoutRoomAreReported() throws Exception {
		assertThat(consoleOfFailedStart(Map.of("SERVER_PORT", "0", "SAMPLE_WORKERHEAP", "1m")))
			// A slow machine may have a warning of the library too.
			.filteredOn((line) -> !line.contains("(distributed-lock.call-timeout)"))
			.hasSize(2)
			.last()
			.asString()
			.contains("Worker 1 did not start")
			.containsIgnoringCase("heap");
	}

	@Test
	@Tag("matrix")
	void aStoreThatDoesNotAnswerIsNamed() throws Exception {
		assertThat(consoleOfFailedStart(
				Map.of("SERVER_PORT", "0", "SPRING_DATASOURCE_URL", "jdbc:postgresql://127.0.0.1:1/sample")))
			.singleElement()
			.asString()
			.contains("127.0.0.1:1");
	}

	private List<String> consoleOfFailedStart(Map<String, String> settings) throws IOException, InterruptedException {
		Path console = this.directory.resolve("console.log");
		Path temporary = Files.createDirectory(this.directory.resolve("tmp"));
		ProcessBuilder builder = new ProcessBuilder(JAVA, "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
				"-Djava.io.tmpdir=" + temporary, "-cp", System.getProperty("java.class.path"),
				SampleApplication.class.getName());
		builder.environment().putAll(settings);
		Process process = builder.redirectErrorStream(true).redirectOutput(console.toFile()).start();
		try {
			assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).isTrue();
			assertThat(process.exitValue()).isEqualTo(1);
		}
		finally {
			process.destroyForcibly();
		}
		// A shell deletes them once the process has ended.
		Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
			try (Stream<Path> files = Files.list(temporary)) {
				assertThat(files).isEmpty();
			}
		});
		return Files.readAllLines(console);
	}

}
