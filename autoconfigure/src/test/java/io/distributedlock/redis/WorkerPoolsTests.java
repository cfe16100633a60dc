package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.distributedlock.provider.CallKind;
import io.distributedlock.provider.Deadline;

import static org.assertj.core.api.Assertions.assertThat;

class WorkerPoolsTests {

	private final CountDownLatch running = new CountDownLatch(1);

	@Test
	void closeWaitsForARunningCall() throws InterruptedException {
		AtomicBoolean ended = new AtomicBoolean();
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		Thread closing = new Thread(pools::close, "test-thread-closing");
		pools.submit(CallKind.RENEWAL, Deadline.after(Duration.ofMinutes(1)), () -> {
			this.running.countDown();
			while (closing.getState() != Thread.State.TIMED_WAITING && closing.getState() != Thread.State.TERMINATED) {
				Thread.onSpinWait();
			}
			ended.set(closing.isAlive());
			return "reply";
		});
		this.running.await();
		closing.start();
		closing.join();
		assertThat(ended).isTrue();
	}

	@Test
	void closeInterruptsACallThatDoesNotEnd() throws InterruptedException {
		CountDownLatch interrupted = new CountDownLatch(1);
		WorkerPools pools = new WorkerPools(Duration.ofMillis(10));
		pools.submit(CallKind.ACQUIRE, Deadline.after(Duration.ofMinutes(1)), () -> {
			this.running.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				interrupted.countDown();
			}
			return "reply";
		});
		this.running.await();
		pools.close();
		assertThat(interrupted.await(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void closeLeavesACallThatNoInterruptEnds() throws InterruptedException {
		AtomicBoolean goOn = new AtomicBoolean(true);
		WorkerPools pools = new WorkerPools(Duration.ofMillis(10));
		pools.submit(CallKind.ACQUIRE, Deadline.after(Duration.ofMinutes(1)), () -> {
			this.running.countDown();
			while (goOn.get()) {
				Thread.onSpinWait();
			}
			return "reply";
		});
		this.running.await();
		pools.close();
		goOn.set(false);
	}

	@Test
	void closeKeepsAnInterrupt() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		pools.submit(CallKind.RELEASE, Deadline.after(Duration.ofMinutes(1)), () -> {
			this.running.countDown();
			while (end.getCount() > 0) {
				Thread.onSpinWait();
			}
			return "reply";
		});
		this.running.await();
		Thread.currentThread().interrupt();
		pools.close();
		assertThat(Thread.interrupted()).isTrue();
		end.countDown();
	}

}
