package io.distributedlock.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockLease;
import io.distributedlock.process.Endpoint.Database;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** Locks that are renewed each millisecond and released at any moment. */
class RenewalRaceTests {

	private static final Log logger = LogFactory.getLog(RenewalRaceTests.class);

	private static final Duration LEASE = Duration.ofSeconds(5);

	private static final double EACH_MILLISECOND = 0.0002;

	private static final int THREADS = 4;

	/** One renewal in so many cycles is enough. */
	private static final int FEW = 10;

	/** For the renewals that a test needs to see, however slow or fast the machine is. */
	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Test
	void noRenewalOutlivesItsRelease() throws Exception {
		cycle(2_000);
	}

	@Test
	@Soak
	void noRenewalOfAHundredThousandOutlivesItsRelease() throws Exception {
		cycle(100_000);
	}

	private static void cycle(int cycles) throws Exception {
		Endpoint endpoint = Endpoint.create(Database.POSTGRESQL);
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try (LocalLocks locks = new LocalLocks(endpoint::provider, EACH_MILLISECOND)) {
			List<Future<?>> results = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				String key = "key-" + thread;
				results.add(executor.submit(() -> cycle(locks, key, cycles)));
			}
			LockRows rows = new LockRows(endpoint);
			for (Future<?> result : results) {
				result.get(500, TimeUnit.SECONDS);
			}
			// A release without a reply on a slow machine is repeated later.
			await().untilAsserted(() -> assertThat(rows.held()).isZero());
			List<?> released = rows.all();
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
			assertThat(rows.all()).isEqualTo(released).hasSize(THREADS);
			RenewalLog log = locks.log();
			logger.info(cycles + " cycles, " + log.renewed() + " renewals, " + log.underWay()
					+ " under way when the release was called");
			assertThat(log.renewed()).isGreaterThan(cycles / FEW);
			assertThat(log.underWay()).isPositive();
			assertThat(log.begunAfterRelease()).isZero();
			assertThat(log.revived()).isZero();
		}
		finally {
			executor.shutdownNow();
		}
	}

	/** Whether too few renewals were seen, and there is time to see more. */
	private static boolean goesOn(RenewalLog log, int cycles, long begun) {
		return (log.underWay() == 0 || log.renewed() <= cycles / FEW) && System.nanoTime() - begun < PATIENCE.toNanos();
	}

	private static void cycle(LocalLocks locks, String key, int cycles) {
		long begun = System.nanoTime();
		for (int i = 0; i < cycles / THREADS || goesOn(locks.log(), cycles, begun); i++) {
			LockLease lease = locks.template().acquire(LocalLocks.request(key, LEASE));
			LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(4_000_000));
			lease.close();
			assertThatIllegalStateException().as("released, and not lost").isThrownBy(lease::ensureHeld);
		}
	}

}
