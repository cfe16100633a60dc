package io.distributedlock.support;

import java.util.List;
import java.util.stream.LongStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs many simulations of the engine, each from a seed of its own. A seed that fails is
 * printed with its history; {@link #historyOf} replays it.
 */
class EngineSimulationTests {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.distributedlock");

	private final @Nullable Level level = this.logger.getLevel();

	/** Stores that fail as often as these are worth gigabytes of warnings. */
	@BeforeEach
	void silence() {
		this.logger.setLevel(Level.OFF);
	}

	@AfterEach
	void restore() {
		this.logger.setLevel(this.level);
	}

	/** The number of seeds; the long form runs a hundred times as many. */
	long seeds() {
		return 10_000;
	}

	@Test
	void noPromiseIsBrokenWhateverHappens() {
		LongStream.range(0, seeds()).parallel().forEach((seed) -> {
			EngineSimulation simulation = new EngineSimulation(seed);
			List<String> violations = simulation.run();
			assertThat(violations).as(() -> "seed %d:%n%s".formatted(seed, String.join("\n", simulation.history())))
				.isEmpty();
		});
	}

	@Test
	void sameSeedGivesTheSameHistory() {
		LongStream.range(0, 20).forEach((seed) -> assertThat(historyOf(seed)).isEqualTo(historyOf(seed)));
	}

	private static List<String> historyOf(long seed) {
		EngineSimulation simulation = new EngineSimulation(seed);
		simulation.run();
		return simulation.history();
	}

}
