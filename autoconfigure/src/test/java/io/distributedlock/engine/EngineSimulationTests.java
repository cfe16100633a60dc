package io.distributedlock.engine;

import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs many simulations of the engine, each from a seed of its own. A seed that fails is
 * printed with its history; {@link #historyOf} replays it.
 */
@ExtendWith(SilentLogger.class)
@Timeout(600)
class EngineSimulationTests {

	/** The number of seeds, of which the longer forms run far more. */
	long seeds() {
		return 100;
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
