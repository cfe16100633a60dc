package io.distributedlock.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The request whose attempt is the first for a key, and which is in no queue yet. */
class FirstRequestTests {

	private final ManualEngine manual = new ManualEngine(false);

	private final ManualRequester first = this.manual.requester();

	private final ManualRequester second = this.manual.requester();

	@Test
	void requestStaysTheFirstWhenAnotherOneGivesItsAttemptUp() {
		assertThat(this.first.step()).isFalse();
		assertThat(this.second.step()).isFalse();
		advance(Duration.ofMillis(1001));
		// The thread of the first request has not looked yet.
		assertThat(this.second.step()).isFalse();
		this.manual.provider.fail();
		assertThat(this.first.isSignalled()).isTrue();
		for (int step = 0; step < 1000 && !this.manual.provider.hasAttempt(); step++) {
			advance(Duration.ofMillis(10));
			assertThat(this.second.step()).isFalse();
			assertThat(this.first.step()).isFalse();
		}
		this.manual.provider.answer(ManualEngine.KEY);
		assertThat(this.first.step()).isTrue();
		this.first.release();
		this.second.request.abandon();
		this.manual.checkNothingRemains();
	}

	private void advance(Duration time) {
		this.manual.environment.advance(time.toNanos());
	}

}
