package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the waits for a subscription that does not begin.
 */
class NotificationSubscriptionTests {

	private static final Deadline LATER = Deadline.after(Duration.ofMinutes(5));

	private final RedisTimer timer = new RedisTimer();

	private final CountDownLatch failing = new CountDownLatch(1);

	private final AtomicInteger ended = new AtomicInteger();

	private final NotificationSubscription subscription = new NotificationSubscription(() -> {
		try {
			this.failing.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new IllegalStateException("no server");
	}, "channel", (message) -> {
	}, new RedisContenderRegistry(), this.timer);

	@AfterEach
	void close() {
		this.failing.countDown();
		this.subscription.close();
		this.timer.close();
	}

	@Test
	void failureBehindOneWaitLeavesTheOthersTheirEnd() {
		for (int number = 0; number < 10; number++) {
			this.subscription.activate(LATER).thenRun(this.ended::incrementAndGet);
			this.subscription.activate(LATER).thenRun(() -> {
				throw new IllegalStateException("wait");
			});
		}
		assertThat(this.ended).hasValue(0);
		this.failing.countDown();
		await().untilAsserted(() -> assertThat(this.ended).hasValue(10));
		await().until(() -> this.timer.size() == 0);
	}

	@Test
	void waitEndsAtItsDeadline() {
		await().until(this.subscription.activate(Deadline.now())::isDone);
	}

	@Test
	void cancelledWaitRunsNothingAndLeavesNoTask() {
		CompletableFuture<@Nullable Void> wait = this.subscription.activate(LATER);
		wait.thenRun(this.ended::incrementAndGet);
		wait.cancel(false);
		assertThat(this.timer.size()).isZero();
		this.failing.countDown();
		this.subscription.close();
		assertThat(this.ended).hasValue(0);
	}

}
