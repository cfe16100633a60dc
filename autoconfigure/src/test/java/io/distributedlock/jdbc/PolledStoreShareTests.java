package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.FencingToken;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.testkit.LockProviderFixture;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Turns at a lock of a process with many threads and of one with a single thread. */
@Tag("full")
class PolledStoreShareTests {

	private static final int MANY = 15;

	/** Fewer grants say too little about shares. */
	private static final int GRANTS = 30;

	/** By the number of its threads a single one would get six per cent. */
	private static final double LEAST = 20;

	private static final double MOST = 80;

	private final LockTimer timer = new LockTimer();

	private final List<LockTemplate> opened = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.opened.forEach(LockTemplate::close);
		this.timer.close();
	}

	@ParameterizedTest
	@EnumSource
	void manyThreadsAndOneThreadGetEqualShares(Store store) throws Exception {
		assertSharesAreAlike(store, Duration.ofSeconds(5));
	}

	@ParameterizedTest
	@EnumSource
	@Soak
	void manyThreadsAndOneThreadGetEqualSharesForHalfAMinute(Store store) throws Exception {
		assertSharesAreAlike(store, Duration.ofSeconds(30));
	}

	private void assertSharesAreAlike(Store store, Duration time) throws Exception {
		try (LockProviderFixture fixture = new JdbcFixture(TestDatabases.withTable(store.fresh.get()))) {
			List<Future<?>> ends = new ArrayList<>();
			AtomicBoolean over = new AtomicBoolean();
			AtomicInteger many = process(fixture, MANY, over, ends);
			AtomicInteger single = process(fixture, 1, over, ends);
			// A machine that pauses for longer than a reservation lasts favours a
			// process.
			long begun = System.nanoTime();
			double share = share(single, many, time);
			while ((share < LEAST || share > MOST) && System.nanoTime() - begun < TimeUnit.MINUTES.toNanos(1)) {
				share = share(single, many, time);
			}
			over.set(true);
			for (Future<?> ended : ends) {
				ended.get(60, TimeUnit.SECONDS);
			}
			assertThat(share).as("per cent of the latest grants, %s + %s in all", single, many).isBetween(LEAST, MOST);
		}
	}

	/** Returns how many per cent of the grants within a time one process gets. */
	private static double share(AtomicInteger single, AtomicInteger many, Duration time) {
		int singleBefore = single.get();
		int before = singleBefore + many.get();
		await().pollDelay(time).atMost(time.plusSeconds(60)).until(() -> single.get() + many.get() - before > GRANTS);
		double all = single.get() + many.get() - before;
		return 100 * (single.get() - singleBefore) / all;
	}

	private AtomicInteger process(LockProviderFixture fixture, int size, AtomicBoolean over, List<Future<?>> ends) {
		LockSettings settings = LockSettings.defaults().withCallTimeout(Duration.ofSeconds(5));
		LockTemplate locks = new LockTemplate(fixture.newProcess(), settings, this.timer, List.of(), List.of());
		this.opened.add(locks);
		LockRequest request = LockRequest.of(LockKey.of("shared")).withWaitTime(Duration.ofSeconds(30));
		AtomicInteger grants = new AtomicInteger();
		for (int thread = 0; thread < size; thread++) {
			ends.add(this.threads.submit(() -> {
				while (!over.get()) {
					try (LockLease lease = locks.acquire(request)) {
						lease.ensureHeld();
						FencingToken token = lease.fencingToken();
						if (token.equals(FencingToken.of(token.order(), 0))) {
							// What follows in the grant is handed off inside the process.
							grants.incrementAndGet();
						}
					}
				}
			}));
		}
		return grants;
	}

	enum Store {

		H2(TestDatabases::h2), MARIADB(TestDatabases::mariaDb);

		private final Supplier<DataSource> fresh;

		Store(Supplier<DataSource> fresh) {
			this.fresh = fresh;
		}

	}

}
