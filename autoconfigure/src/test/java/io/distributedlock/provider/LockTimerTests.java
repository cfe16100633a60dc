package io.distributedlock.provider;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

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

}
