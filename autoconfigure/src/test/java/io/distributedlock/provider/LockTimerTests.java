package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class LockTimerTests {

	@Test
	void failureOfATaskIsLogged(CapturedOutput output) {
		try (LockTimer timer = new LockTimer()) {
			timer.schedule(() -> {
				throw new IllegalStateException("task out of order");
			}, Duration.ZERO);
			await().until(() -> output.toString().contains("task out of order"));
		}
	}

	@Test
	void closedTimerTakesNoTask() {
		LockTimer timer = new LockTimer();
		AtomicBoolean ran = new AtomicBoolean();
		assertThat(timer.trySchedule(() -> ran.set(true), 0)).isNotNull();
		await().untilTrue(ran);
		assertThat(timer.trySchedule(() -> ran.set(true), TimeUnit.HOURS.toNanos(1))).isNotNull();
		assertThat(timer.size()).isOne();
		timer.close();
		assertThat(timer.size()).isZero();
		assertThat(timer.trySchedule(() -> ran.set(true), 0)).isNull();
	}

}
