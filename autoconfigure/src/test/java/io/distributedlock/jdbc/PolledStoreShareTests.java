package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.testkit.LockProviderFixture;

import static org.assertj.core.api.Assertions.assertThat;

/** Shares of a lock between a process with many threads and one with a single thread. */
class PolledStoreShareTests {

	private static final int MANY = 15;

	private final LockTimer timer = new LockTimer();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.timer.close();
	}

	@ParameterizedTest
	@EnumSource
	void manyThreadsAndOneThreadGetEqualShares(Store store) throws Exception {
		assertSharesAreAlike(store, Duration.ofSeconds(5));
	}

	@ParameterizedTest
	@EnumSource
	@Tag("soak")
	void manyThreadsAndOneThreadGetEqualSharesForHalfAMinute(Store store) throws Exception {
		assertSharesAreAlike(store, Duration.ofSeconds(30));
	}

	private void assertSharesAreAlike(Store store, Duration time) throws Exception {
		AtomicInteger many;
		AtomicInteger single;
		try (LockProviderFixture fixture = new JdbcFixture(TestDatabases.withTable(store.fresh.get()))) {
			long end = System.nanoTime() + time.toNanos();
			List<Future<?>> ends = new ArrayList<>();
			many = process(fixture, MANY, end, ends);
			single = process(fixture, 1, end, ends);
			for (Future<?> ended : ends) {
				ended.get(time.toSeconds() + 60, TimeUnit.SECONDS);
			}
		}
		double share = 100.0 * single.get() / (single.get() + many.get());
		assertThat(share).as("per cent of %s + %s grants", single, many).isBetween(30.0, 70.0);
		assertThat(single.get() + many.get()).isGreaterThan(30);
	}

	private AtomicInteger process(LockProviderFixture fixture, int size, long end, List<Future<?>> ends) {
		LockTemplate locks = new LockTemplate(fixture.newProcess(), LockSettings.defaults(), this.timer, List.of(),
				List.of());
		LockRequest request = LockRequest.of(LockKey.of("shared")).withWaitTime(Duration.ofSeconds(30));
		AtomicInteger grants = new AtomicInteger();
		for (int thread = 0; thread < size; thread++) {
			ends.add(this.threads.submit(() -> {
				while (System.nanoTime() - end < 0) {
					try (LockLease lease = locks.acquire(request)) {
						lease.ensureHeld();
						grants.incrementAndGet();
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
