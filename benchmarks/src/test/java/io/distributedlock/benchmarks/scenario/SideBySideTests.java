package io.distributedlock.benchmarks.scenario;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.benchmarks.Endpoint;
import io.distributedlock.benchmarks.Store;
import io.distributedlock.benchmarks.contender.Ability;
import io.distributedlock.benchmarks.contender.Library;
import io.distributedlock.benchmarks.server.StoreServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Moves from the other libraries as docs/migration describes them, with these libraries
 * and real servers. Version 1 has the old lock, version 2 both, version 3 the new one.
 */
@Tag("matrix")
@Timeout(900)
class SideBySideTests {

	/** Rounds of each of two processes. */
	private static final int ROUNDS = 1000;

	/** The fewest changes of the holder; lock4j waits for 100 ms after each attempt. */
	private static final int HAND_OVERS = 10;

	private static final String LOG = "processes.log";

	@TempDir
	private Path folder;

	private static Stream<Arguments> moves() {
		return Arrays.stream(Library.values())
			.filter((library) -> !library.label().startsWith("raw") && !library.isOurs())
			.flatMap((library) -> Stream.of(Store.REDIS, Store.POSTGRESQL, Store.ZOOKEEPER)
				.filter((store) -> library.can(store, Ability.ATTEMPTS))
				.map((store) -> Arguments.of(library, store)));
	}

	@ParameterizedTest
	@MethodSource("moves")
	void versionsOfOneRollOutAreNeverInsideTogether(Library old, Store store) throws Exception {
		try (StoreServer server = StoreServer.start(store, this.folder)) {
			assertThat(overlaps(old, server.endpoint(), 1, 2)).isZero();
			assertThat(overlaps(old, server.endpoint(), 2, 3)).isZero();
		}
	}

	@Test
	void versionsThatShareNoLockAreCaughtInsideTogether() throws Exception {
		try (StoreServer server = StoreServer.start(Store.REDIS, this.folder)) {
			assertThat(overlaps(Library.REDISSON, server.endpoint(), 1, 3)).isPositive();
		}
	}

	/**
	 * Runs two versions in processes of their own, and counts what only two at once do.
	 */
	private double overlaps(Library old, Endpoint server, int first, int second) throws Exception {
		CriticalSection section = new CriticalSection(SharedMemory.map(this.folder.resolve("memory")));
		section.reset();
		List<Process> processes = List.of(start(old, server, first), start(old, server, second));
		try {
			for (Process process : processes) {
				assertThat(process.inputReader().readLine()).as(this::log).isEqualTo(SideBySideProcess.READY);
			}
			for (Process process : processes) {
				process.outputWriter().close();
			}
			for (Process process : processes) {
				assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(this::log).isTrue();
				assertThat(process.exitValue()).as(this::log).isZero();
			}
		}
		finally {
			processes.forEach(Process::destroyForcibly);
		}
		System.out.printf("%s on %s: versions %d and %d: %d hand-overs%n", old.label(), server.store().label(), first,
				second, section.handOvers());
		assertThat(section.handOvers()).isGreaterThan(HAND_OVERS);
		return section.figures(2.0 * ROUNDS).stream().mapToDouble(Figure::value).sum();
	}

	private Process start(Library old, Endpoint server, int version) throws Exception {
		return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				SideBySideProcess.class.getName(), old.name(), server.store().name(), server.address(),
				Integer.toString(version), this.folder.resolve("memory").toString(), Integer.toString(ROUNDS))
			.redirectError(ProcessBuilder.Redirect.appendTo(this.folder.resolve(LOG).toFile()))
			.start();
	}

	private String log() {
		try {
			return Files.readString(this.folder.resolve(LOG));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
