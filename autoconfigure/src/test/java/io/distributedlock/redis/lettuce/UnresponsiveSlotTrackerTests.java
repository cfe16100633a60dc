package io.distributedlock.redis.lettuce;

import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class UnresponsiveSlotTrackerTests {

	private final AtomicInteger allResponsive = new AtomicInteger();

	private final LockTimer timer = new LockTimer("redis-timer");

	private final UnresponsiveSlotTracker tracker = new UnresponsiveSlotTracker(this.timer,
			this.allResponsive::incrementAndGet);

	private final AtomicBoolean broken = new AtomicBoolean();

	private final Deque<CompletableFuture<Object>> probes = new ConcurrentLinkedDeque<>();

	@AfterEach
	void close() {
		this.timer.close();
	}

	private CompletableFuture<Object> probe() {
		CompletableFuture<Object> probe = new CompletableFuture<>();
		this.probes.add(probe);
		return probe;
	}

	@Test
	void slotIsUnresponsiveUntilItsProbeEnds() {
		this.tracker.add(7, this::probe, this.broken::get);
		assertThat(this.tracker.contains(7)).isTrue();
		assertThat(this.tracker.contains(8)).isFalse();
		this.probes.getLast().complete("value");
		assertThat(this.tracker.contains(7)).isFalse();
		assertThat(this.allResponsive).hasValue(1);
	}

	@Test
	void probeIsRepeatedAfterATimeoutOfTheClient() {
		this.tracker.add(7, this::probe, this.broken::get);
		this.probes.getLast().completeExceptionally(new TimeoutException());
		await().until(() -> this.probes.size() == 2);
		assertThat(this.tracker.contains(7)).isTrue();
		assertThat(this.allResponsive).hasValue(0);
	}

	@Test
	void probeIsRepeatedAfterTheRefusalOfAReplica() {
		this.tracker.add(7, this::probe, this.broken::get);
		this.probes.getLast()
			.completeExceptionally(new IllegalStateException("READONLY You can't write against a read only replica."));
		assertThat(this.tracker.contains(7)).isTrue();
		await().until(() -> this.probes.size() == 2);
		this.probes.getLast().complete("value");
		assertThat(this.tracker.contains(7)).isFalse();
	}

	@Test
	void failureOfTheConnectionEndsTheProbe() {
		this.tracker.add(7, this::probe, this.broken::get);
		this.probes.getLast().completeExceptionally(new IllegalStateException("connection closed"));
		assertThat(this.tracker.contains(7)).isFalse();
		this.tracker.add(8, () -> {
			throw new IllegalStateException("connection closed");
		}, this.broken::get);
		assertThat(this.tracker.contains(8)).isFalse();
	}

	@Test
	void probeIsRepeatedWhileTheConnectionIsBroken() {
		this.broken.set(true);
		this.tracker.add(7, this::probe, this.broken::get);
		this.probes.getLast().completeExceptionally(new IllegalStateException("rejected"));
		assertThat(this.tracker.contains(7)).isTrue();
		await().until(() -> this.probes.size() == 2);
		this.broken.set(false);
		this.probes.getLast().completeExceptionally(new IllegalStateException("rejected"));
		assertThat(this.tracker.contains(7)).isFalse();
	}

	@Test
	void slotHasOneProbeAtATime() {
		this.tracker.add(7, this::probe, this.broken::get);
		this.tracker.add(7, this::probe, this.broken::get);
		assertThat(this.probes).hasSize(1);
	}

	@Test
	void clearedSlotIsProbedNoMore() {
		this.tracker.add(7, this::probe, this.broken::get);
		this.tracker.clear();
		assertThat(this.tracker.contains(7)).isFalse();
		assertThat(this.allResponsive).hasValue(1);
		this.probes.getLast().completeExceptionally(new TimeoutException());
		assertThat(this.probes).hasSize(1);
	}

	@Test
	void callbackRunsOnlyWhenTheLastSlotIsResponsive() {
		this.tracker.add(7, this::probe, this.broken::get);
		this.tracker.add(8, this::probe, this.broken::get);
		this.probes.getFirst().complete("value");
		assertThat(this.allResponsive).hasValue(0);
		this.probes.getLast().complete("value");
		assertThat(this.allResponsive).hasValue(1);
	}

}
