package io.distributedlock.redis.quorum;

import java.time.Duration;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import io.distributedlock.LockProviderException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class QuorumNodeStateTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final QuorumNodeState state = new QuorumNodeState("node");

	@Test
	void restOfTheDelayIsCountedWhenItIsRead() {
		Supplier<LockProviderException> failure = this.state.recordRestarted(Duration.ofHours(1));
		String first = this.state.text();
		String told = failure.get().getMessage();
		assertThat(first).matches("restarted; takes part again in 3[56]\\d\\d s");
		assertThat(told).contains("takes part in nothing for 3");
		await().atMost(PATIENCE)
			.until(() -> !this.state.text().equals(first) && !failure.get().getMessage().equals(told));
	}

	@Test
	void endOfTheDelayIsTheNextRequest() {
		this.state.recordRestarted(Duration.ZERO);
		assertThat(this.state.text()).isEqualTo("restarted; takes part again with the next request");
		this.state.recordUp();
		assertThat(this.state.text()).isEqualTo("up");
	}

}
