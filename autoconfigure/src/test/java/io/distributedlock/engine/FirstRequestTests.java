package io.distributedlock.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.engine.grant.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;

/** The request whose attempt is the first for a key, and which is in no queue yet. */
class FirstRequestTests {

	private final Clock clock = new Clock();

	private final ManualEngine manual = new ManualEngine(this.clock, false,
			LockSettings.defaults().withMaxHandOffTime(null));

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

	/** A request reads the clock twice before it gives its attempt up. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void answerThatComesWhileTheAttemptBecomesOverdueIsUsed(int reading) {
		assertThat(this.first.step()).isFalse();
		advance(Duration.ofMillis(1001));
		this.clock.atReading(reading, () -> this.manual.provider.answer(ManualEngine.KEY));
		assertThat(this.first.step()).isTrue();
		this.first.release();
		this.manual.checkNothingRemains();
	}

	private void advance(Duration time) {
		this.clock.advance(time.toNanos());
	}

	/** A clock that lets something happen while it is read. */
	private static final class Clock extends ManualEnvironment {

		private int readingsLeft;

		private Runnable action = () -> {
		};

		void atReading(int number, Runnable action) {
			this.readingsLeft = number;
			this.action = action;
		}

		@Override
		public long nanoTime() {
			if (this.readingsLeft-- == 1) {
				this.action.run();
			}
			return super.nanoTime();
		}

	}

}
