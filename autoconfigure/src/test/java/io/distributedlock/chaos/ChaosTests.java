package io.distributedlock.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.chaos.ChaosRun.Settings;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A run against each of some real stores:
 * {@code -Pchaos -Dchaos.store=redis -Dchaos.minutes=1}, and {@code -Dchaos.seed=…} for
 * the faults and calls of an earlier one. With {@code -Dchaos.guards=false} only a broken
 * rule fails it, and not a run that was too short or too slow to show something.
 */
@Soak
@Tag("chaos")
class ChaosTests {

	private static final Log logger = LogFactory.getLog(ChaosTests.class);

	static List<StoreKind> stores() {
		return Stream.of(System.getProperty("chaos.store", "redis").split(",")).map(StoreKind::of).toList();
	}

	@ParameterizedTest
	@MethodSource("stores")
	void historyKeepsAllPromises(StoreKind store) throws Exception {
		Duration time = Duration.ofSeconds((long) (Double.parseDouble(System.getProperty("chaos.minutes", "1")) * 60));
		try (ChaosRun run = new ChaosRun(new Settings(Path.of("target", "chaos", store.toString()), store, time,
				Long.getLong("chaos.seed", System.nanoTime()), null))) {
			ChaosReport report = run.run();
			logger.info(report);
			assertThat(report.violations()).as("%s", report).isEmpty();
			boolean guarded = !System.getProperty("chaos.guards", "true").equals("false");
			assertThat(guarded ? report.unmetGuards() : List.of()).as("%s", report).isEmpty();
		}
	}

}
