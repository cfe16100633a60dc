package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.distributedlock.provider.CallKind;

import static org.assertj.core.api.Assertions.assertThat;

class WorkerPoolsTests {

	private final CountDownLatch running = new CountDownLatch(1);

	@Test
	void closeWaitsForARunningCall() throws InterruptedException {
		AtomicBoolean ended = new AtomicBoolean();
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		Thread closing = new Thread(pools::close, "test-thread-closing");
		pools.execute(CallKind.RENEWAL, null, () -> {
			this.running.countDown();
			while (closing.getState() != Thread.State.TIMED_WAITING && closing.getState() != Thread.State.TERMINATED) {
				Thread.onSpinWait();
			}
			ended.set(closing.isAlive());
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
		pools.execute(CallKind.ACQUIRE, null, () -> {
			this.running.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				interrupted.countDown();
			}
		});
		this.running.await();
		pools.close();
		assertThat(interrupted.await(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void closeLeavesACallThatNoInterruptEnds() throws InterruptedException {
		AtomicBoolean goOn = new AtomicBoolean(true);
		WorkerPools pools = new WorkerPools(Duration.ofMillis(10));
		pools.execute(CallKind.ACQUIRE, null, () -> {
			this.running.countDown();
			while (goOn.get()) {
				Thread.onSpinWait();
			}
		});
		this.running.await();
		pools.close();
		goOn.set(false);
	}

	@Test
	void callsToOneNodeLeaveAWorkerForTheOthers() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch other = new CountDownLatch(1);
		CountDownLatch late = new CountDownLatch(20);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		for (int call = 0; call < 20; call++) {
			pools.execute(CallKind.RELEASE, "frozen", () -> {
				try {
					end.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				late.countDown();
			});
		}
		pools.execute(CallKind.RELEASE, "healthy", other::countDown);
		assertThat(other.await(1, TimeUnit.MINUTES)).isTrue();
		assertThat(late.getCount()).isEqualTo(20);
		end.countDown();
		assertThat(late.await(1, TimeUnit.MINUTES)).isTrue();
		pools.close();
	}

	@Test
	void closeKeepsAnInterrupt() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		pools.execute(CallKind.RELEASE, null, () -> {
			this.running.countDown();
			while (end.getCount() > 0) {
				Thread.onSpinWait();
			}
		});
		this.running.await();
		Thread.currentThread().interrupt();
		pools.close();
		assertThat(Thread.interrupted()).isTrue();
		end.countDown();
	}

}
