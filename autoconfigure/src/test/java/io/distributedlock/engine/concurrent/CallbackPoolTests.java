package io.distributedlock.engine.concurrent;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link CallbackPool}.
 */
@ExtendWith(OutputCaptureExtension.class)
class CallbackPoolTests {

	private final LockTimer timer = new LockTimer();

	private final CountDownLatch mayGoOn = new CountDownLatch(1);

	private final CallbackPool pool = new CallbackPool("test-callback", 2, this.timer);

	@AfterEach
	void stop() {
		this.mayGoOn.countDown();
		this.pool.endIdleThreads();
		this.timer.close();
	}

	@Test
	void whatOccupiesTheThreadsIsNamedOnceWhileACallbackWaits(CapturedOutput output) {
		this.pool.execute(this::blockForLong);
		this.pool.execute(this::blockForLong);
		CountDownLatch ran = new CountDownLatch(1);
		this.pool.execute(ran::countDown);
		await().until(() -> output.getOut().contains("distributed-lock-test-callback"));
		assertThat(output).contains("A callback of a lock has waited for")
			.contains("all 2 threads")
			.contains("blockForLong");
		await().during(1500, TimeUnit.MILLISECONDS)
			.until(() -> output.getOut().split("A callback of a lock has waited for", -1).length == 2);
		this.mayGoOn.countDown();
		await().until(() -> ran.getCount() == 0);
	}

	private void blockForLong() {
		try {
			assertThat(this.mayGoOn.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
