package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.Deadline;
import io.distributedlock.redis.script.RedisTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class SubscriptionWaitersTests {

	private final RedisTimer timer = new RedisTimer();

	private final SubscriptionWaiters waiters = new SubscriptionWaiters(this.timer);

	private final AtomicInteger ended = new AtomicInteger();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private SubscriptionWaiters.Waiter add(Runnable action) {
		SubscriptionWaiters.Waiter waiter = this.waiters.newWaiter(action);
		this.waiters.add(waiter);
		return waiter;
	}

	@Test
	void failureOfOneWaiterLeavesTheOthersTheirEnd() {
		for (int number = 0; number < 10; number++) {
			add(this.ended::incrementAndGet);
			add(() -> {
				throw new IllegalStateException("waiter");
			});
		}
		this.waiters.endAll();
		assertThat(this.ended).hasValue(10);
	}

	@Test
	void waiterEndsOnce() {
		SubscriptionWaiters.Waiter waiter = add(this.ended::incrementAndGet);
		waiter.endAt(Deadline.now());
		await().until(() -> this.ended.get() > 0);
		waiter.end();
		this.waiters.endAll();
		assertThat(this.ended).hasValue(1);
	}

	@Test
	void cancelledWaiterRunsNothingAndLeavesNoTask() {
		SubscriptionWaiters.Waiter waiter = add(this.ended::incrementAndGet);
		waiter.endAt(Deadline.after(Duration.ofMinutes(1)));
		waiter.cancel();
		this.waiters.endAll();
		assertThat(this.ended).hasValue(0);
		assertThat(this.timer.size()).isZero();
	}

}
