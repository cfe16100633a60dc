package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class PollSignalTests {

	private final LockTimer timer = new LockTimer();

	private final AtomicInteger signals = new AtomicInteger();

	private final PollSignal signal = new PollSignal(this.timer, this.signals::incrementAndGet);

	@AfterEach
	void close() {
		this.timer.close();
	}

	@Test
	void earliestOfSeveralPendingSignalsIsSent() {
		this.signal.sendAfter(Duration.ofHours(1));
		this.signal.sendAfter(Duration.ofMillis(1));
		await().until(() -> this.signals.get() == 1);
		this.signal.sendAfter(Duration.ofMillis(50));
		this.signal.sendAfter(Duration.ofHours(1));
		await().until(() -> this.signals.get() == 2);
	}

	@Test
	void cancelledSignalIsNotSent() {
		CompletableFuture<Void> cancelled = new CompletableFuture<>();
		// The timer's thread sends nothing until the signal is cancelled, however late.
		this.timer.schedule(cancelled::join, Duration.ZERO);
		this.signal.sendAfter(Duration.ofMillis(1));
		this.signal.cancel();
		cancelled.complete(null);
		this.signal.send();
		await().pollDelay(Duration.ofMillis(300)).until(() -> this.signals.get() == 1);
	}

	@Test
	void nothingIsSentAfterTheTimerWasClosed() {
		this.timer.close();
		this.signal.sendAfter(Duration.ZERO);
		assertThat(this.signals).hasValue(0);
	}

}
