package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.engine.grant.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class SettingsWarningsTests {

	private static final LockSettings DEFAULTS = LockSettings.defaults();

	@Test
	void defaultsAreNotSuspected() {
		assertThat(SettingsWarnings.of(DEFAULTS)).isEmpty();
		assertThat(SettingsWarnings.of(DEFAULTS.withLease(Duration.ofSeconds(6)))).isEmpty();
	}

	@Test
	void warningHasALoggerThatCanBeSilencedAlone(CapturedOutput output) {
		new ApplicationContextRunner().withBean(LockUser.class)
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.provider=local", "distributed-lock.lease=3s")
			.run((context) -> assertThat(output.getOut().lines().filter((line) -> line.contains("DL-626")))
				.singleElement()
				.asString()
				.contains("WARN", ".autoconfigure.SettingsWarnings"));
	}

	@Test
	void callTimeoutLongerThanARenewalMayTake() {
		assertThat(SettingsWarnings.of(DEFAULTS.withLease(Duration.ofSeconds(3))))
			.containsExactly("DL-626: The property distributed-lock.call-timeout is 1000ms, but a renewal of a lease of"
					+ " 3000ms (distributed-lock.lease) may take 500ms at most: a store that is slower than that grants"
					+ " locks, but renews none. Use a call-timeout of at most 500ms, or a lease of at least 6000ms");
	}

	@Test
	void leaseTooShortForHandOffs() {
		assertThat(
				SettingsWarnings.of(DEFAULTS.withLease(Duration.ofMillis(300)).withCallTimeout(Duration.ofMillis(50))))
			.containsExactly(
					"DL-626: The property distributed-lock.hand-off.max-time is 20ms, but a lock with a lease of"
							+ " 300ms (distributed-lock.lease) is handed off only if the lease is 20 times as long, so that no"
							+ " lock is. Use a max-time of at most 15ms, or switch hand-offs off"
							+ " (distributed-lock.hand-off.max-time=0)");
		assertThat(SettingsWarnings.of(DEFAULTS.withLease(Duration.ofMillis(300))
			.withCallTimeout(Duration.ofMillis(50))
			.withMaxHandOffTime(null))).isEmpty();
	}

}
