package io.distributedlock.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.distributedlock.chaos.ChaosRun.Settings;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Breaks the library on purpose, and expects that the checker of a run notices: a check
 * that cannot fail shows nothing.
 */
class ChaosBreakageTests {

	private static final Log logger = LogFactory.getLog(ChaosBreakageTests.class);

	private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("chaos.seconds", 90));

	@TempDir
	private Path broken;

	static List<ChaosBreakage> breakages() {
		return ChaosBreakage.ALL.stream()
			.filter((breakage) -> breakage.name().matches(System.getProperty("chaos.breakage", ".*")))
			.toList();
	}

	@ParameterizedTest
	@MethodSource("breakages")
	void breakageIsOneOfThePresentSources(ChaosBreakage breakage) throws IOException {
		assertThat(breakage.original().split(Pattern.quote(breakage.text()), -1)).as(breakage.text()).hasSize(2);
		breakage.write(this.broken);
		assertThat(Files.walk(this.broken).filter(Files::isRegularFile)).isNotEmpty();
	}

	@ParameterizedTest
	@MethodSource("breakages")
	@Soak
	void runFindsTheBreakage(ChaosBreakage breakage) throws Exception {
		breakage.write(this.broken);
		Path folder = Path.of("target", "chaos-broken", breakage.name().replace(' ', '-'));
		try (ChaosRun run = new ChaosRun(new Settings(folder, StoreKind.REDIS, TIME, 1, this.broken))) {
			ChaosReport report = run.run();
			logger.info(breakage + ": " + report);
			assertThat(report.violations().keySet()).as("%s", report)
				.containsAnyElementsOf(breakage.rules().stream().map(Class::getSimpleName).toList());
		}
	}

}
