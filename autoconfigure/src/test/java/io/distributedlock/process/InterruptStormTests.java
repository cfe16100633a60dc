package io.distributedlock.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockInterruptedException;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.process.Endpoint.Database;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Interrupts at random moments of an acquire leave nothing behind in the store. */
class InterruptStormTests {

	private static final Log logger = LogFactory.getLog(InterruptStormTests.class);

	private static final Duration LEASE = Duration.ofSeconds(60);

	/** Renews each 300 ms, so that a renewal without a holder would be seen. */
	private static final double OFTEN = 0.005;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final int THREADS = 4;

	private static final int KEYS = 2;

	@ParameterizedTest
	@EnumSource(Database.class)
	void interruptsLeaveNothing(Database database) throws Exception {
		interrupt(database, 1_000);
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	@Soak
	void tenThousandInterruptsLeaveNothing(Database database) throws Exception {
		interrupt(database, 10_000);
	}

	private static void interrupt(Database database, int interrupts) throws Exception {
		Endpoint endpoint = Endpoint.create(database);
		LockRows rows = new LockRows(endpoint);
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		ScheduledExecutorService interrupter = Executors.newScheduledThreadPool(1);
		try (LocalLocks locks = new LocalLocks(endpoint::provider, OFTEN)) {
			AtomicInteger inTime = new AtomicInteger();
			AtomicInteger acquired = new AtomicInteger();
			AtomicInteger unanswered = new AtomicInteger();
			List<Future<?>> results = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				Random random = new Random(thread);
				Callable<?> rounds = () -> {
					while (inTime.get() < interrupts) {
						acquired.addAndGet(round(locks, interrupter, random, inTime, unanswered) ? 1 : 0);
					}
					return null;
				};
				results.add(executor.submit(rounds));
			}
			for (Future<?> result : results) {
				result.get(500, TimeUnit.SECONDS);
			}
			logger.info(database + ": " + inTime + " acquires were interrupted under way, " + acquired
					+ " returned a lock all the same");
			// Each interrupt costs a connection, which a slow machine takes long to
			// replace.
			assertThat(unanswered).hasValueLessThan(interrupts / 10);
			await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows.held()).isZero());
			AtomicInteger batches = new AtomicInteger(locks.log().batches());
			await().during(Duration.ofSeconds(1)).atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
				assertThat(rows.held()).isZero();
				int before = batches.getAndSet(locks.log().batches());
				assertThat(batches).hasValue(before);
			});
		}
		finally {
			executor.shutdownNow();
			interrupter.shutdownNow();
		}
	}

	/** Interrupts one acquire and returns whether it was granted the lock. */
	private static boolean round(LocalLocks locks, ScheduledExecutorService interrupter, Random random,
			AtomicInteger inTime, AtomicInteger unanswered) throws ExecutionException {
		LockRequest request = LocalLocks.request("key-" + random.nextInt(KEYS), LEASE);
		AtomicBoolean returned = new AtomicBoolean();
		Thread caller = Thread.currentThread();
		Future<?> interrupt = interrupter.schedule(() -> {
			if (!returned.get()) {
				inTime.incrementAndGet();
			}
			caller.interrupt();
		}, random.nextInt(random.nextInt(4) == 0 ? 10_000 : 1_500), TimeUnit.MICROSECONDS);
		boolean acquired = false;
		try (LockLease lease = locks.template().acquire(request)) {
			returned.set(true);
			acquired = lease.isHeld();
			assertThat(acquired).isTrue();
		}
		catch (LockInterruptedException ex) {
			returned.set(true);
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		catch (LockProviderException ex) {
			returned.set(true);
			unanswered.incrementAndGet();
		}
		awaitInterrupt(interrupt);
		return acquired;
	}

	private static void awaitInterrupt(Future<?> interrupt) throws ExecutionException {
		boolean done = false;
		while (!done) {
			try {
				interrupt.get();
				done = true;
			}
			catch (InterruptedException ex) {
				// That was it, or the flag that the acquire had left.
				done = interrupt.isDone();
			}
		}
		Thread.interrupted();
	}

}
