package io.distributedlock.process;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import io.distributedlock.LockLease;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.LocalStore;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Keys that were locked once and never again cost nothing afterwards. */
@Tag("full")
class ManyKeysTests {

	private static final Log logger = LogFactory.getLog(ManyKeysTests.class);

	private static final int THREADS = 4;

	private static final int FEW = 10_000;

	private static final int MANY = 1_000_000;

	private static final Duration LEASE = Duration.ofSeconds(30);

	/** The further threads of all pools, which a slow machine may start. */
	private static final int SPARE = 20;

	/**
	 * Allowance for the caches of the JVM; a queue alone costs some 200 bytes per key.
	 */
	private static final long TOLERANCE = 1_500_000;

	@Test
	void manyKeysInMemoryLeaveTheHeapFlat() throws Exception {
		inMemory(FEW);
	}

	@Test
	@Soak
	void millionKeysInMemoryLeaveTheHeapFlat() throws Exception {
		inMemory(MANY);
	}

	@Test
	void manyKeysOnAServerInAnotherJvmLeaveTheHeapFlat() throws Exception {
		onServer(FEW);
	}

	@Test
	@Soak
	void millionKeysOnAServerInAnotherJvmLeaveTheHeapFlat() throws Exception {
		onServer(MANY);
	}

	private static void inMemory(int keys) throws Exception {
		LocalStore store = new LocalStore();
		try (LocalLocks locks = new LocalLocks((timer) -> new LocalLockProvider(store), 0.3)) {
			leavesTheHeapFlat(locks, keys);
			assertThat((Map<?, ?>) ReflectionTestUtils.getField(store, "entries")).isEmpty();
		}
	}

	private static void onServer(int keys) throws Exception {
		try (LockProcess server = LockProcess.start(H2ServerMain.class, List.of())) {
			JdbcDataSource database = new JdbcDataSource();
			database.setURL("jdbc:h2:tcp://localhost:" + server.answer() + "/mem:locks;DB_CLOSE_DELAY=-1");
			database.setUser("sa");
			database.setPassword("");
			TestDatabases.withTable(database);
			Endpoint endpoint = new Endpoint(database.getURL(), "sa", "");
			try (LocalLocks locks = new LocalLocks((timer) -> endpoint.provider(timer, Duration.ofSeconds(1)), 0.3)) {
				leavesTheHeapFlat(locks, keys);
				// A release without a reply on a slow machine is repeated
				// later.
				await().untilAsserted(() -> assertThat(new LockRows(endpoint).held()).isZero());
				await().untilAsserted(() -> assertThat(sessions(endpoint)).isLessThanOrEqualTo(9));
			}
		}
	}

	private static Integer sessions(Endpoint endpoint) {
		return endpoint.jdbc().queryForObject("SELECT count(*) FROM INFORMATION_SCHEMA.SESSIONS", Integer.class);
	}

	private static void leavesTheHeapFlat(LocalLocks locks, int keys) throws Exception {
		AtomicInteger next = new AtomicInteger();
		lock(locks, next, FEW / 5);
		long heap = usedHeap();
		long threads = LocalLocks.threads();
		lock(locks, next, keys);
		long grown = usedHeap() - heap;
		logger
			.info(keys + " keys: " + grown + " bytes more heap, " + LocalLocks.threads() + " threads after " + threads);
		// What a slow machine repeats later is on the heap until then.
		await().untilAsserted(() -> assertThat(usedHeap() - heap).isLessThan(TOLERANCE));
		assertThat(LocalLocks.threads()).isLessThanOrEqualTo(threads + SPARE);
		Object engine = ReflectionTestUtils.getField(locks.template(), "engine");
		Object queues = ReflectionTestUtils.getField(engine, "queues");
		assertThat((Map<?, ?>) ReflectionTestUtils.getField(queues, "queues")).isEmpty();
	}

	private static void lock(LocalLocks locks, AtomicInteger next, int keys) throws Exception {
		int end = next.get() + keys;
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> results = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				results.add(executor.submit(() -> {
					for (int key = next.getAndIncrement(); key < end; key = next.getAndIncrement()) {
						try (LockLease lease = locks.template().acquire(LocalLocks.request("key-" + key, LEASE))) {
							assertThat(lease.isHeld()).isTrue();
						}
					}
				}));
			}
			for (Future<?> result : results) {
				result.get(1000, TimeUnit.SECONDS);
			}
			next.set(end);
		}
		finally {
			executor.shutdownNow();
		}
	}

	private static long usedHeap() {
		for (int i = 0; i < 3; i++) {
			System.gc();
		}
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

}
