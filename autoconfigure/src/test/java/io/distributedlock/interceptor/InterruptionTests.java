package io.distributedlock.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockContext;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockLostException;
import io.distributedlock.LossReason;
import io.distributedlock.OnLost;
import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests of {@link OnLost#INTERRUPT} for methods that return values.
 */
class InterruptionTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final LockTimer timer = new LockTimer();

	private final LockTemplate locks = new LockTemplate(new LocalLockProvider(), LockSettings.defaults(), this.timer,
			List.of(), List.of());

	private final Work work = new LockedProxies(this.locks).ofClass(new Work());

	private final LockKey key = LockKey.of("interrupted");

	@AfterEach
	void close() {
		Thread.interrupted();
		this.locks.close();
		this.timer.close();
	}

	private CompletableFuture<?> forceRelease() {
		return CompletableFuture.runAsync(() -> this.locks.forceRelease(this.key));
	}

	@Test
	void lossInterruptsTheBody() {
		Throwable thrown = catchThrowable(() -> this.work.run(() -> {
			forceRelease();
			TimeUnit.MINUTES.sleep(1);
			return "ended";
		}));
		assertThat(thrown).isInstanceOfSatisfying(LockLostException.class, (loss) -> {
			assertThat(loss.reason()).isEqualTo(LossReason.FORCED);
			assertThat(loss).hasCauseInstanceOf(InterruptedException.class);
		});
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void bodyThatIgnoresTheInterruptFailsAtItsEnd() {
		assertThat(catchThrowable(() -> this.work.run(() -> {
			forceRelease();
			long until = System.nanoTime() + PATIENCE.toNanos();
			while (!Thread.currentThread().isInterrupted() && System.nanoTime() < until) {
				Thread.onSpinWait();
			}
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			return "ended";
		}))).isInstanceOf(LockLostException.class);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void interruptOfAnotherIsKept() throws Throwable {
		assertThat(this.work.run(() -> {
			Thread.currentThread().interrupt();
			return "ended";
		})).isEqualTo("ended");
		assertThat(Thread.interrupted()).isTrue();
		assertThat(catchThrowable(() -> this.work.run(() -> {
			Thread.currentThread().interrupt();
			throw new IllegalStateException();
		}))).isInstanceOf(IllegalStateException.class);
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void interruptBeforeTheLossIsKept() {
		assertThat(catchThrowable(() -> this.work.run(() -> {
			Thread.currentThread().interrupt();
			this.locks.forceRelease(this.key);
			LockLease lease = LockContext.current();
			CompletableFuture<Boolean> told = new CompletableFuture<>();
			// Runs after the interruption.
			lease.onLost(() -> told.complete(true));
			long until = System.nanoTime() + PATIENCE.toNanos();
			while (!told.isDone() && System.nanoTime() < until) {
				Thread.onSpinWait();
			}
			assertThat(told).isDone();
			return "ended";
		}))).isInstanceOf(LockLostException.class);
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void errorOfTheBodyPassesUnchanged() {
		StackOverflowError error = new StackOverflowError();
		assertThat(catchThrowable(() -> this.work.run(() -> {
			forceRelease();
			try {
				TimeUnit.MINUTES.sleep(1);
			}
			catch (InterruptedException ex) {
				throw error;
			}
			return "ended";
		}))).isSameAs(error);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	/** The loss and the end of the body meet at any moment. */
	@Test
	void threadIsNeverInterruptedAfterTheBody() throws Exception {
		Exchanger<Boolean> start = new Exchanger<>();
		int rounds = 2000;
		Thread other = new Thread(() -> {
			try {
				for (int round = 0; round < rounds; round++) {
					start.exchange(true);
					spin(round % 50 * 200L);
					this.locks.forceRelease(this.key);
					start.exchange(true);
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		other.start();
		for (int round = 0; round < rounds; round++) {
			Throwable thrown = catchThrowable(() -> this.work.run(() -> {
				start.exchange(true);
				spin(5000);
				return LockContext.current();
			}));
			assertThat(thrown == null || thrown instanceof LockLostException).as("%s", thrown).isTrue();
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			start.exchange(true);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
		}
		other.join();
	}

	private static void spin(long nanos) {
		long until = System.nanoTime() + nanos;
		while (System.nanoTime() < until) {
			Thread.onSpinWait();
		}
	}

	interface Body {

		Object run() throws Exception;

	}

	static class Work {

		@DistributedLock(name = "interrupted", onLost = OnLost.INTERRUPT)
		Object run(Body body) throws Exception {
			return body.run();
		}

	}

}
