package io.distributedlock.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.AttemptResult.Busy;
import io.distributedlock.provider.AttemptResult.Granted;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pools whose connections have no autocommit and are SERIALIZABLE, and many threads.
 */
@Tag("full")
class PoolDefaultsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final int THREADS = 100;

	private final LockTimer timer = new LockTimer();

	@AfterEach
	void close() {
		this.timer.close();
	}

	enum Database {

		H2 {
			@Override
			DataSource create() {
				return TestDatabases.h2();
			}
		},
		POSTGRES {
			@Override
			DataSource create() {
				return TestDatabases.postgres();
			}
		},
		MARIADB {
			@Override
			DataSource create() {
				return TestDatabases.mariaDb();
			}
		};

		abstract DataSource create();

	}

	private static HikariDataSource application(Database database) {
		HikariConfig config = new HikariConfig();
		config.setDataSource(TestDatabases.withTable(database.create()));
		config.setMaximumPoolSize(8);
		config.setAutoCommit(false);
		config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		return new HikariDataSource(config);
	}

	private static AttemptResult attempt(JdbcLockProvider provider, LockKey key) {
		return resultOf(provider.newContender(key, () -> {
		}).attempt(OwnerId.random(), Duration.ofSeconds(30), false, TIMEOUT));
	}

	@ParameterizedTest
	@EnumSource
	void everyStepCommitsOnAPoolWithOtherDefaults(Database database) {
		try (HikariDataSource application = application(database)) {
			JdbcLockProvider one = new JdbcLockProvider(LockDataSource.of(application, 4),
					JdbcLockSettings.defaults("defaults"), this.timer);
			JdbcLockProvider other = new JdbcLockProvider(LockDataSource.of(application, 4),
					JdbcLockSettings.defaults("defaults"), this.timer);
			LockKey key = LockKey.of("shared");
			for (int round = 0; round < 20; round++) {
				LockGrant grant = ((Granted) attempt(one, key)).grant();
				assertThat(attempt(other, key)).isInstanceOf(Busy.class);
				assertThat(resultOf(one.renew(Map.of(grant, Duration.ofSeconds(30)), TIMEOUT)))
					.containsValue(RenewalOutcome.RENEWED);
				assertThat(resultOf(one.release(key, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
			}
			one.close();
			other.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void hundredThreadsLoseNoLeaseDuringRenewals(Database database) throws Exception {
		try (HikariDataSource application = application(database)) {
			JdbcLockProvider provider = new JdbcLockProvider(
					LockDataSource.derive(application, LockDataSource.DEFAULT_SIZE, Duration.ofSeconds(1)),
					JdbcLockSettings.defaults("hundred"), this.timer);
			TestDatabases.warmUp(provider);
			AtomicInteger lost = new AtomicInteger();
			LockTemplate locks = new LockTemplate(provider, LockSettings.defaults(), this.timer, List.of(),
					List.of(countLosses(lost)));
			Duration lease = Duration.ofSeconds(4);
			List<LockLease> kept = new ArrayList<>();
			for (int number = 0; number < THREADS; number++) {
				kept.add(locks.acquire(LockRequest.of(LockKey.of("kept", Integer.toString(number))).withLease(lease)));
			}
			AtomicLong longestNanos = new AtomicLong();
			AtomicInteger rounds = new AtomicInteger();
			int unanswered = acquireConcurrently(locks, lease, longestNanos, rounds);
			assertThat(rounds).hasValueGreaterThan(THREADS).hasValueGreaterThan(unanswered);
			assertThat(kept).allMatch(LockLease::isHeld);
			assertThat(lost).hasValue(0);
			// More only where a call hangs: one stall of the machine meets many threads.
			assertThat(Duration.ofNanos(longestNanos.get())).isLessThanOrEqualTo(TimeBounds.withLoad(4000));
			kept.forEach(LockLease::close);
			locks.close();
			provider.close();
		}
	}

	private static LockListener countLosses(AtomicInteger lost) {
		return new LockListener() {

			@Override
			public void onLost(LockLease lease, LossReason reason) {
				lost.incrementAndGet();
			}

		};
	}

	/** Returns how many acquires failed because the machine was slow. */
	private static int acquireConcurrently(LockTemplate locks, Duration lease, AtomicLong longestNanos,
			AtomicInteger rounds) throws Exception {
		CountDownLatch start = new CountDownLatch(1);
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		List<Future<Integer>> done = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			LockRequest request = LockRequest.of(LockKey.of("own", Integer.toString(thread)))
				.withLease(lease)
				.withWaitTime(Duration.ofSeconds(1));
			done.add(threads.submit(() -> work(locks, request, start, longestNanos, rounds)));
		}
		start.countDown();
		int unanswered = 0;
		for (Future<Integer> future : done) {
			unanswered += future.get(90, TimeUnit.SECONDS);
		}
		threads.shutdown();
		return unanswered;
	}

	/**
	 * Acquires for longer than a lease, so that renewals are due meanwhile, and until all
	 * threads together have acquired often.
	 */
	private static int work(LockTemplate locks, LockRequest request, CountDownLatch start, AtomicLong longestNanos,
			AtomicInteger rounds) throws InterruptedException {
		start.await();
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
		long last = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
		int unanswered = 0;
		while (System.nanoTime() - end < 0 || (rounds.get() <= THREADS && System.nanoTime() - last < 0)) {
			long begun = System.nanoTime();
			try (LockLease lease = locks.acquire(request)) {
				longestNanos.accumulateAndGet(System.nanoTime() - begun, Math::max);
				lease.ensureHeld();
				rounds.incrementAndGet();
			}
			catch (LockException ex) {
				// Busy is a lock whose last release was not answered in time.
				assertThat(ex.error()).isIn(LockError.STORE_TIMEOUT, LockError.BUSY);
				unanswered++;
			}
		}
		return unanswered;
	}

}
