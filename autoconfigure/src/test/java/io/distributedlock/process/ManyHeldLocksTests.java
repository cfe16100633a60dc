package io.distributedlock.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockLease;
import io.distributedlock.process.Endpoint.Database;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Many locks that one process holds are renewed in few batches and none is lost. */
@Tag("full")
class ManyHeldLocksTests {

	private static final Log logger = LogFactory.getLog(ManyHeldLocksTests.class);

	private static final double FRACTION = 1.0 / 3;

	/** The further threads of all pools, which a slow machine may start. */
	private static final int SPARE = 20;

	@ParameterizedTest
	@EnumSource(Database.class)
	void thousandLocksAreRenewedInBatches(Database database) {
		hold(database, 1_000, Duration.ofSeconds(8), Duration.ofSeconds(9));
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	@Soak
	void tenThousandLocksAreRenewedForThreeMinutes(Database database) {
		hold(database, 10_000, Duration.ofSeconds(10), Duration.ofMinutes(3));
	}

	private static void hold(Database database, int count, Duration lease, Duration time) {
		Endpoint endpoint = Endpoint.create(database);
		LockRows rows = new LockRows(endpoint);
		try (LocalLocks locks = new LocalLocks(endpoint::provider, FRACTION)) {
			List<LockLease> held = new ArrayList<>(count);
			for (int i = 0; i < count; i++) {
				held.add(locks.template().acquire(LocalLocks.request("key-" + i, lease)));
			}
			long threads = LocalLocks.threads();
			int renewed = locks.log().renewed();
			int batches = locks.log().batches();
			long start = System.nanoTime();
			await().atMost(time.plusSeconds(10)).until(() -> System.nanoTime() - start > time.toNanos());
			double periods = (double) (System.nanoTime() - start) / (lease.toNanos() * FRACTION * 0.9) + 1;
			renewed = locks.log().renewed() - renewed;
			batches = locks.log().batches() - batches;
			logger.info(database + ": " + count + " locks, " + renewed + " renewals in " + batches + " batches over "
					+ (int) periods + " periods");
			assertThat(held).allMatch(LockLease::isHeld);
			assertThat(rows.held()).isEqualTo(count);
			assertThat(renewed).isGreaterThan(count * (int) (time.toNanos() / lease.toNanos()));
			assertThat(batches).isLessThanOrEqualTo((int) (periods * count / 100));
			assertThat(LocalLocks.threads()).isLessThanOrEqualTo(threads + SPARE);
		}
	}

}
