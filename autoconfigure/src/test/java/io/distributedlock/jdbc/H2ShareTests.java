package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.support.LockProviderFixture;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.support.LockTimer;

import static org.assertj.core.api.Assertions.assertThat;

/** A process does not get more of a lock because more of its threads want it. */
class H2ShareTests {

	private static final int CROWD = 15;

	private final LockProviderFixture fixture = new JdbcFixture(TestDatabases.withTable(TestDatabases.h2()));

	private final LockTimer timer = new LockTimer();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.fixture.close();
		this.timer.close();
	}

	@Test
	void crowdAndSingleThreadGetAlike() throws Exception {
		assertSharesAreAlike(Duration.ofSeconds(10));
	}

	@Test
	@Tag("soak")
	void crowdAndSingleThreadGetAlikeForHalfAMinute() throws Exception {
		assertSharesAreAlike(Duration.ofSeconds(30));
	}

	private void assertSharesAreAlike(Duration time) throws Exception {
		long end = System.nanoTime() + time.toNanos();
		List<Future<?>> ends = new ArrayList<>();
		AtomicInteger crowd = process(CROWD, end, ends);
		AtomicInteger single = process(1, end, ends);
		for (Future<?> ended : ends) {
			ended.get(time.toSeconds() + 60, TimeUnit.SECONDS);
		}
		double share = 100.0 * single.get() / (single.get() + crowd.get());
		assertThat(share).as("per cent of %s + %s tenures", single, crowd).isBetween(30.0, 70.0);
		assertThat(single.get() + crowd.get()).isGreaterThan(100);
	}

	private AtomicInteger process(int size, long end, List<Future<?>> ends) {
		LockTemplate locks = new LockTemplate(this.fixture.newProcess(), LockSettings.defaults(), this.timer, List.of(),
				List.of());
		LockRequest request = LockRequest.of(LockKey.of("shared")).withWaitTime(Duration.ofSeconds(30));
		AtomicInteger tenures = new AtomicInteger();
		for (int thread = 0; thread < size; thread++) {
			ends.add(this.threads.submit(() -> {
				while (System.nanoTime() - end < 0) {
					try (LockLease lease = locks.acquire(request)) {
						lease.ensureHeld();
						tenures.incrementAndGet();
					}
				}
			}));
		}
		return tenures;
	}

}
