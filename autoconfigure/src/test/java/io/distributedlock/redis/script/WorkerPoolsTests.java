package io.distributedlock.redis.script;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.distributedlock.LockError;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.CallKind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	@ParameterizedTest
	@EnumSource(CallKind.class)
	void callsToManyNodesLeaveAWorkerForTheLast(CallKind kind) throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch other = new CountDownLatch(1);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		for (int call = 0; call < 400; call++) {
			pools.execute(kind, "frozen-" + call % 40, () -> {
				try {
					end.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
		}
		pools.execute(kind, "healthy", other::countDown);
		assertThat(other.await(1, TimeUnit.MINUTES)).isTrue();
		end.countDown();
		pools.close();
	}

	@Test
	void callsToFurtherNodesThanWorkersAreRunLater() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch all = new CountDownLatch(300);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		for (int call = 0; call < 300; call++) {
			pools.execute(CallKind.RENEWAL, "node-" + call % 100, () -> {
				try {
					end.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				all.countDown();
			});
		}
		end.countDown();
		assertThat(all.await(1, TimeUnit.MINUTES)).isTrue();
		pools.close();
	}

	@Test
	void closeRunsManyCallsThatFollowEachOther() throws InterruptedException {
		CountDownLatch ended = new CountDownLatch(9_000);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		Thread closing = new Thread(pools::close, "test-thread-closing");
		pools.execute(CallKind.RENEWAL, "node", () -> {
			this.running.countDown();
			while (closing.getState() != Thread.State.TIMED_WAITING) {
				Thread.onSpinWait();
			}
		});
		for (long call = ended.getCount(); call > 0; call--) {
			pools.execute(CallKind.RENEWAL, "node", ended::countDown);
		}
		this.running.await();
		closing.start();
		closing.join();
		assertThat(ended.getCount()).isZero();
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "node")
	void closeDropsCallsForWhichThereIsNoWorker(String node) {
		AtomicBoolean goOn = new AtomicBoolean(true);
		AtomicReference<LockProviderException> reason = new AtomicReference<>();
		WorkerPools pools = new WorkerPools(Duration.ofMillis(10));
		for (int worker = 0; worker < 2; worker++) {
			pools.execute(CallKind.RENEWAL, node, () -> {
				while (goOn.get()) {
					Thread.onSpinWait();
				}
			});
		}
		pools.execute(CallKind.RENEWAL, node, new WorkerTask() {

			@Override
			public void run() {
				throw new AssertionError("A call runs after the end");
			}

			@Override
			public void drop(LockProviderException ex) {
				reason.set(ex);
			}

		});
		pools.close();
		goOn.set(false);
		assertThat(reason.get().error()).isEqualTo(LockError.SHUTTING_DOWN);
		assertThat(reason.get().isEffectUnknown()).isFalse();
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "node")
	void callIsRefusedIfTooManyWaitForAWorker(String node) {
		CountDownLatch end = new CountDownLatch(1);
		WorkerPools pools = new WorkerPools(Duration.ofMinutes(1));
		int waiting = 10_000 + 2;
		for (int call = 0; call < waiting; call++) {
			pools.execute(CallKind.RENEWAL, node, () -> {
				try {
					end.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
		}
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> pools.execute(CallKind.RENEWAL, node, () -> {
				// Never runs.
			}))
			.satisfies((ex) -> {
				assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED);
				assertThat(ex.isEffectUnknown()).isFalse();
			});
		end.countDown();
		pools.close();
	}

	@Test
	void closedPoolsRefuseACall() {
		WorkerPools pools = new WorkerPools(Duration.ofMillis(10));
		pools.close();
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> pools.execute(CallKind.ACQUIRE, null, () -> {
				// Never runs.
			}))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.SHUTTING_DOWN));
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
