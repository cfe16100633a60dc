package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.Soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the keys that remain after many locks, and of the threads and connections for
 * many held ones.
 */
@Tag("full")
class RedisFootprintTests {

	private static final int HELD = 10_000;

	/** One for each worker and one for the test: Jedis needs one for each call. */
	private static final long MOST_CONNECTIONS = 12;

	private static final Duration LEASE = Duration.ofMillis(4500);

	/** The scripts of one period. */
	private static final long FEWEST = 20;

	/** The further threads of all pools, which a slow machine may start. */
	private static final int SPARE = 20;

	/** No test is about a server that answers late. */
	private static final LockSettings SETTINGS = LockSettings.defaults().withCallTimeout(Duration.ofSeconds(5));

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	@Test
	void tenThousandLocksLeaveOnlyTheOrdersAndTheFormat() {
		assertKeepsOrdersAndFormatOnly(10_000);
	}

	@Test
	@Soak
	void millionLocksLeaveOnlyTheOrdersAndTheFormat() {
		assertKeepsOrdersAndFormatOnly(1_000_000);
	}

	private LockTemplate locks(RedisConnectionFactory factory) {
		return this.processes.locks(this.processes.provider(factory), SETTINGS);
	}

	private void assertKeepsOrdersAndFormatOnly(int keys) {
		LockTemplate locks = locks(TestRedis.lettuce(TestRedis.port()));
		for (int number = 0; number < keys; number++) {
			locks.acquire(LockRequest.of(LockKey.of("orders", Integer.toString(number)))).close();
		}
		// A release without a reply on a slow machine is repeated later.
		await().untilAsserted(() -> assertThat(this.admin.dbSize()).isEqualTo(RedisLayout.BUCKETS + 1));
		assertThat(this.admin.keys("*")).allMatch((key) -> key.endsWith("}:last-order") || key.endsWith("}:format"));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void tenThousandLocksNeedNoMoreThreadsThanOne(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		LockTemplate locks = locks(client.apply(TestRedis.standalone(TestRedis.port())));
		for (int number = 0; number < 20; number++) {
			locks.acquire(LockRequest.of(LockKey.of("warm", "up"))).close();
		}
		LockLease first = locks.acquire(LockRequest.of(LockKey.of("first")).withLease(LEASE));
		await().pollDelay(LEASE.dividedBy(2)).until(first::isHeld);
		long threads = threads();
		long connections = connections();
		List<LockLease> leases = new ArrayList<>();
		for (int number = 0; number < HELD; number++) {
			leases.add(locks.acquire(LockRequest.of(LockKey.of("held", Integer.toString(number))).withLease(LEASE)));
		}
		CommandStats stats = new CommandStats(this.admin);
		stats.reset();
		long begun = System.nanoTime();
		await().pollDelay(LEASE.multipliedBy(2).dividedBy(3))
			.atMost(Duration.ofMinutes(1))
			.until(() -> CommandStats.ofClients(stats.calls()) >= FEWEST);
		Map<String, Long> calls = stats.calls();
		double periods = 3.0 * (System.nanoTime() - begun) / LEASE.toNanos();
		assertThat(leases.stream().filter(LockLease::isHeld).count()).isEqualTo(HELD);
		// One lock alone may not have started all threads, such as the second worker.
		assertThat(threads()).isLessThanOrEqualTo(threads + SPARE);
		assertThat(connections()).isLessThanOrEqualTo(Math.max(connections, MOST_CONNECTIONS));
		// In each period 100 locks per script, and many locks that were due apart.
		assertThat(CommandStats.ofClients(calls)).as("renewals: %s", calls)
			.isBetween(FEWEST, (long) (periods * HELD / 20));
		leases.forEach(LockLease::close);
		first.close();
	}

	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("distributed-lock-")
					|| thread.getName().startsWith("lettuce-"))
			.count();
	}

	private long connections() {
		return this.admin.clientList().lines().count();
	}

}
