package io.distributedlock.redis.quorum;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class RestartDelayTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@Test
	void restIsCountedWhenItIsRead() {
		RestartDelay delay = new RestartDelay(Duration.ofHours(1));
		long first = delay.seconds();
		await().atMost(PATIENCE).until(() -> delay.seconds() < first);
		assertThat(delay.state()).matches("restarted; takes part again in 3[56]\\d\\d s")
			.doesNotContain("in " + first + " s");
		assertThat(delay.failure()).hasMessageNotContaining("for " + first + " s")
			.hasMessageContaining("takes part in nothing for 35");
	}

	@Test
	void endIsTheNextRequest() {
		assertThat(new RestartDelay(Duration.ZERO).state())
			.isEqualTo("restarted; takes part again with the next request");
	}

}
