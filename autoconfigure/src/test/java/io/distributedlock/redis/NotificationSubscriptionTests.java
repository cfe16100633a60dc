package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.Deadline;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.script.SubscribedConnection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the waits for a subscription that does not begin.
 */
class NotificationSubscriptionTests {

	private static final Deadline LATER = Deadline.after(Duration.ofMinutes(5));

	private final LockTimer timer = new LockTimer("redis-timer");

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
	}, List.of("channel"), (channel, message) -> {
	}, () -> {
	}, this.timer);

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

	/** As by Jedis, which connects again for whoever subscribes on it. */
	@Test
	void subscriptionThatIsConfirmedAfterItsEndIsAbandonedAgain() throws Exception {
		LateConnection late = new LateConnection();
		NotificationSubscription ending = new NotificationSubscription(() -> late, List.of("channel"),
				(channel, message) -> {
				}, () -> {
				}, this.timer);
		ending.begin();
		late.subscribing.await();
		ending.close();
		assertThat(late.abandoned).hasValue(1);
		late.confirming.countDown();
		await().until(() -> late.abandoned.get() == 2 && late.closed.get() == 1);
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

	/** A connection whose subscription is confirmed when the test says so. */
	private static final class LateConnection implements SubscribedConnection {

		private final CountDownLatch subscribing = new CountDownLatch(1);

		private final CountDownLatch confirming = new CountDownLatch(1);

		private final AtomicInteger abandoned = new AtomicInteger();

		private final AtomicInteger closed = new AtomicInteger();

		@Override
		public void subscribe(List<byte[]> channels, Runnable onSubscribed, BiConsumer<byte[], byte[]> onMessage) {
			this.subscribing.countDown();
			Deadline.after(Duration.ofMinutes(1))
				.awaitUninterruptibly((nanos) -> this.confirming.await(nanos, TimeUnit.NANOSECONDS));
			onSubscribed.run();
		}

		@Override
		public boolean isSubscribed() {
			return false;
		}

		@Override
		public boolean isOfFormerClient() {
			return false;
		}

		@Override
		public void close() {
			this.closed.incrementAndGet();
		}

		@Override
		public void abandon() {
			this.abandoned.incrementAndGet();
		}

	}

}
