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

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.testkit.LockProviderFixture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Shares of a lock between a process with many threads and one with a single thread. */
class PolledStoreShareTests {

	private static final int MANY = 15;

	/** Fewer grants say too little about shares. */
	private static final int GRANTS = 30;

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
	@Tag("soak")
	void manyThreadsAndOneThreadGetEqualSharesForHalfAMinute(Store store) throws Exception {
		assertSharesAreAlike(store, Duration.ofSeconds(30));
	}

	private void assertSharesAreAlike(Store store, Duration time) throws Exception {
		try (LockProviderFixture fixture = new JdbcFixture(TestDatabases.withTable(store.fresh.get()))) {
			List<Future<?>> ends = new ArrayList<>();
			AtomicBoolean over = new AtomicBoolean();
			AtomicInteger many = process(fixture, MANY, over, ends);
			AtomicInteger single = process(fixture, 1, over, ends);
			await().pollDelay(time).atMost(time.plusSeconds(60)).until(() -> single.get() + many.get() > GRANTS);
			over.set(true);
			for (Future<?> ended : ends) {
				ended.get(60, TimeUnit.SECONDS);
			}
			// By the number of its threads the single one would get six per cent.
			double share = 100.0 * single.get() / (single.get() + many.get());
			assertThat(share).as("per cent of %s + %s grants", single, many).isBetween(20.0, 80.0);
		}
	}

	private AtomicInteger process(LockProviderFixture fixture, int size, AtomicBoolean over, List<Future<?>> ends) {
		LockTemplate locks = new LockTemplate(fixture.newProcess(), LockSettings.defaults(), this.timer, List.of(),
				List.of());
		this.opened.add(locks);
		LockRequest request = LockRequest.of(LockKey.of("shared")).withWaitTime(Duration.ofSeconds(30));
		AtomicInteger grants = new AtomicInteger();
		for (int thread = 0; thread < size; thread++) {
			ends.add(this.threads.submit(() -> {
				while (!over.get()) {
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
