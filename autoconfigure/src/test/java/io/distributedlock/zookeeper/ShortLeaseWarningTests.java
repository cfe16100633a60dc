package io.distributedlock.zookeeper;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class ShortLeaseWarningTests {

	private static final long SESSION_NANOS = Duration.ofSeconds(20).toNanos();

	@Test
	void leaseShorterThanTheSessionIsLoggedOnce(CapturedOutput output) {
		ShortLeaseWarning warning = new ShortLeaseWarning(true);
		warning.check(Duration.ofSeconds(20), SESSION_NANOS);
		assertThat(output).doesNotContain("DL-627");
		warning.check(Duration.ofSeconds(5), SESSION_NANOS);
		warning.check(Duration.ofSeconds(4), SESSION_NANOS);
		assertThat(output.toString().lines()).singleElement()
			.asString()
			.contains(" WARN ")
			.endsWith("DL-627: A lock was acquired with a lease of 5000 ms, but ZooKeeper keeps the locks of a process"
					+ " that died for its session's time-out of 20000 ms. Shorten"
					+ " distributed-lock.zookeeper.session-timeout (the servers' least is two of their ticks,"
					+ " unless they set minSessionTimeout), or use a longer lease");
	}

	@Test
	void clientOfTheApplicationHasItsOwnTimeout(CapturedOutput output) {
		new ShortLeaseWarning(false).check(Duration.ofSeconds(5), SESSION_NANOS);
		assertThat(output).contains("Shorten the session's time-out of the application's CuratorFramework")
			.doesNotContain("distributed-lock.zookeeper.session-timeout");
	}

}
