package io.distributedlock.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.process.Endpoint.Database;
import io.distributedlock.process.LockProcess.Acquired;

import static org.assertj.core.api.Assertions.assertThat;

/** Processes whose wall clocks differ by an hour and more exclude each other. */
@Tag("full")
class ClockSkewTests {

	private static final int HOLDS = 200;

	private static final Duration LEASE = Duration.ofSeconds(3);

	private final List<LockProcess> processes = new ArrayList<>();

	@AfterEach
	void close() {
		this.processes.forEach(LockProcess::close);
	}

	private LockProcess process(Endpoint endpoint, String offset) {
		Optional<Path> library = Stream.of("x86_64-linux-gnu/faketime", "aarch64-linux-gnu/faketime", "faketime")
			.map((folder) -> Path.of("/usr/lib", folder, "libfaketime.so.1"))
			.filter(Files::exists)
			.findFirst();
		Assumptions.assumeTrue(library.isPresent(), "libfaketime is not installed: no wall clock can be moved");
		List<String> arguments = new ArrayList<>(endpoint.arguments());
		arguments.addAll(endpoint.arguments());
		LockProcess process = LockProcess.start(LockHolderMain.class,
				Map.of("LD_PRELOAD", library.get().toString(), "FAKETIME", offset, "DONT_FAKE_MONOTONIC", "1",
						"FAKETIME_DONT_FAKE_MONOTONIC", "1", "FAKETIME_FORCE_MONOTONIC_FIX", "0"),
				arguments);
		this.processes.add(process);
		return process;
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void neitherClockShortensOrProlongsALock(Database database) {
		Endpoint endpoint = Endpoint.create(database);
		LockProcess early = process(endpoint, "-1h");
		LockProcess late = process(endpoint, "+1h");
		long apart = Long.parseLong(late.ask("clock")) - Long.parseLong(early.ask("clock"));
		assertThat(Duration.ofMillis(apart)).isCloseTo(Duration.ofHours(2), Duration.ofMinutes(1));
		excludes(early, late);
		excludes(late, early);
	}

	/** The second is refused while the first holds, and follows when its lease ends. */
	private static void excludes(LockProcess first, LockProcess second) {
		long before = System.nanoTime();
		Acquired held = first.acquire("seat", LEASE, Duration.ofSeconds(5), false);
		assertThat(second.ask(Commands.acquire("seat", LEASE, Duration.ZERO, false))).isEqualTo("busy");
		assertThat(first.ask("held")).isEqualTo("true");
		Acquired followed = second.acquire("seat", LEASE, Duration.ofSeconds(5), false);
		assertThat(followed.token()).isGreaterThan(held.token());
		// A busy machine comes late, but not by an hour.
		assertThat(Duration.ofNanos(followed.at() - before)).isBetween(LEASE.minusMillis(20), Duration.ofMinutes(1));
		assertThat(first.ask("held")).isEqualTo("false");
		assertThat(second.ask("held")).isEqualTo("true");
		assertThat(second.ask("release")).isEqualTo("released");
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void noTwoHoldsOverlapAndTokensRise(Database database) {
		Endpoint endpoint = Endpoint.create(database);
		LockProcess early = process(endpoint, "-1h");
		LockProcess late = process(endpoint, "+1h");
		assertThat(Stream.of(early, late).map((process) -> process.ask("clock"))).doesNotContainNull();
		List.of(early, late).forEach((process) -> process.send("history seat " + HOLDS));
		List<Hold> holds = Stream.of(early, late)
			.flatMap((process) -> Stream.of(process.answer().split(",")))
			.map(Hold::parse)
			.sorted(Comparator.comparingLong(Hold::from))
			.toList();
		assertThat(holds).hasSize(2 * HOLDS);
		for (int i = 1; i < holds.size(); i++) {
			assertThat(holds.get(i).from()).isGreaterThan(holds.get(i - 1).to());
			assertThat(holds.get(i).token()).isGreaterThan(holds.get(i - 1).token());
		}
	}

	private record Hold(long token, long from, long to) {

		static Hold parse(String text) {
			assertThat(text).matches("\\d+:\\d+:\\d+");
			String[] numbers = text.split(":");
			return new Hold(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
		}

	}

}
