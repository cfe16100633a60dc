package io.distributedlock.provider;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.distributedlock.testkit.Soak;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class CallWatchdogTests {

	private final LockTimer timer = new LockTimer();

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	/** How long a slow machine may take until enough calls of each kind have met. */
	private static final Duration RACE = Duration.ofMinutes(1);

	private static final Duration NOTHING_HAPPENS = Duration.ofMillis(200);

	/** So many calls of each kind have to meet the race. */
	private static final int FEW = 100;

	private final ExecutorService aborter = Executors.newSingleThreadExecutor();

	private final CallWatchdog watchdog = new CallWatchdog(this.timer, this.aborter);

	@AfterEach
	void close() {
		this.timer.close();
		this.aborter.shutdownNow();
	}

	@Test
	void overdueCallIsAbortedOffTheTimerThread() throws Exception {
		Duration took = abortOverdueCall();
		if (took.compareTo(TimeBounds.withLoad(80)) >= 0) {
			// This machine has stood still, which it does not do each time.
			took = abortOverdueCall();
		}
		assertThat(took).isBetween(Duration.ofMillis(80), TimeBounds.withLoad(80));
	}

	private Duration abortOverdueCall() throws InterruptedException {
		AtomicReference<String> thread = new AtomicReference<>();
		CountDownLatch aborted = new CountDownLatch(1);
		long start = System.nanoTime();
		CallWatchdog.Call call = this.watchdog.begin(Deadline.after(Duration.ofMillis(80)), false, () -> {
			thread.set(Thread.currentThread().getName());
			aborted.countDown();
		});
		assertThat(aborted.await(10, TimeUnit.SECONDS)).isTrue();
		Duration took = Duration.ofNanos(System.nanoTime() - start);
		assertThat(call.end()).isFalse();
		assertThat(thread.get()).doesNotContain("timer");
		return took;
	}

	@Test
	void callThatEndsInTimeIsNotAborted() throws Exception {
		AtomicBoolean aborted = new AtomicBoolean();
		Duration deadline = TimeBounds.withLoad(500);
		CallWatchdog.Call call = this.watchdog.begin(Deadline.after(deadline), true, () -> aborted.set(true));
		assertThat(call.end()).isTrue();
		CountDownLatch later = new CountDownLatch(1);
		this.timer.schedule(later::countDown, deadline.plusMillis(200));
		assertThat(later.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(aborted).isFalse();
	}

	@Test
	void abortThatFindsNoThreadIsTriedAgain() {
		AtomicInteger tries = new AtomicInteger();
		CallWatchdog busy = new CallWatchdog(this.timer, (abort) -> {
			if (tries.incrementAndGet() < 3) {
				throw new RejectedExecutionException("busy");
			}
			abort.run();
		});
		AtomicBoolean aborted = new AtomicBoolean();
		CallWatchdog.Call call = busy.begin(Deadline.after(Duration.ofMillis(1)), false, () -> aborted.set(true));
		await().untilTrue(aborted);
		assertThat(call.end()).isFalse();
	}

	@Test
	void interruptEndsOnlyAnInterruptibleCall() throws Exception {
		assertThat(interrupted(true)).isTrue();
		assertThat(interrupted(false)).isFalse();
	}

	private boolean interrupted(boolean interruptible) throws InterruptedException {
		AtomicBoolean aborted = new AtomicBoolean();
		CountDownLatch finish = new CountDownLatch(1);
		Thread caller = new Thread(() -> {
			CallWatchdog.Call call = this.watchdog.begin(Deadline.after(Duration.ofSeconds(30)), interruptible,
					() -> aborted.set(true));
			Thread.currentThread().interrupt();
			long end = System.nanoTime() + (interruptible ? PATIENCE : NOTHING_HAPPENS).toNanos();
			while (!aborted.get() && System.nanoTime() < end) {
				Thread.onSpinWait();
			}
			call.end();
			finish.countDown();
		});
		caller.start();
		assertThat(finish.await(20, TimeUnit.SECONDS)).isTrue();
		return aborted.get();
	}

	@Test
	void noCallIsAbortedAfterItHasEnded() throws Exception {
		race(10_000, 8);
	}

	@Test
	@Soak
	void noCallIsAbortedAfterItHasEndedAtLength() throws Exception {
		race(100_000, 8);
	}

	/**
	 * A caller whose call ended by itself returns its connection to the pool: an abort
	 * after that would hit another caller. A caller whose call was aborted discards it.
	 */
	private void race(int calls, int threads) throws Exception {
		ExecutorService callers = Executors.newFixedThreadPool(threads);
		AtomicInteger foreign = new AtomicInteger();
		AtomicInteger aborted = new AtomicInteger();
		AtomicInteger ended = new AtomicInteger();
		AtomicInteger discarded = new AtomicInteger();
		long begun = System.nanoTime();
		CountDownLatch done = new CountDownLatch(threads);
		for (int i = 0; i < threads; i++) {
			callers.execute(() -> {
				for (int n = 0; n < calls / threads || continues(ended, discarded, begun); n++) {
					AtomicBoolean hit = new AtomicBoolean();
					AtomicBoolean finished = new AtomicBoolean();
					CallWatchdog.Call call = this.watchdog.begin(Deadline.after(Duration.ofMillis(2)), false, () -> {
						hit.set(true);
						foreign.addAndGet(finished.get() ? 1 : 0);
						aborted.incrementAndGet();
					});
					LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(3_000_000));
					finished.set(call.end());
					if (finished.get()) {
						ended.incrementAndGet();
						foreign.addAndGet(hit.get() ? 1 : 0);
					}
					else {
						discarded.incrementAndGet();
					}
				}
				done.countDown();
			});
		}
		assertThat(done.await(100, TimeUnit.SECONDS)).isTrue();
		callers.shutdownNow();
		await().untilAsserted(() -> assertThat(aborted).hasValue(discarded.get()));
		assertThat(foreign).hasValue(0);
		assertThat(ended.get()).isGreaterThanOrEqualTo(FEW);
		assertThat(discarded.get()).isGreaterThanOrEqualTo(FEW);
	}

	/** Whether too few calls of one kind were seen, and there is time to see more. */
	private static boolean continues(AtomicInteger ended, AtomicInteger discarded, long begun) {
		return (ended.get() < FEW || discarded.get() < FEW) && System.nanoTime() - begun < RACE.toNanos();
	}

}
