package io.distributedlock.chaos;

import java.nio.file.Path;
import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.chaos.ChaosRun.Settings;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One run against a real store: {@code -Pchaos -Dchaos.store=redis -Dchaos.minutes=1},
 * and {@code -Dchaos.seed=…} for the faults and calls of an earlier one. With
 * {@code -Dchaos.guards=false} only a broken rule fails it, and not a run that was too
 * short or too slow to show something.
 */
@Soak
@Tag("chaos")
class ChaosTests {

	private static final Log logger = LogFactory.getLog(ChaosTests.class);

	@Test
	void historyKeepsAllPromises() throws Exception {
		StoreKind store = StoreKind.of(System.getProperty("chaos.store", "redis"));
		Duration time = Duration.ofSeconds((long) (Double.parseDouble(System.getProperty("chaos.minutes", "1")) * 60));
		try (ChaosRun run = new ChaosRun(new Settings(Path.of("target", "chaos"), store, time,
				Long.getLong("chaos.seed", System.nanoTime()), null))) {
			ChaosReport report = run.run();
			logger.info(report);
			assertThat(report.violations()).as("%s", report).isEmpty();
			if (!System.getProperty("chaos.guards", "true").equals("false")) {
				assertThat(report.unmetGuards()).as("%s", report).isEmpty();
			}
		}
	}

}
