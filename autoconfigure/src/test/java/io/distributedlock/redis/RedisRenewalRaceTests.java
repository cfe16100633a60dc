package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
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
import io.distributedlock.engine.grant.EarlyRenewals;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.process.RenewalLog;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.Soak;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewals that are under way, and late, while their locks are released: the period is a
 * millisecond, and the way to the server delays them.
 */
@Tag("full")
class RedisRenewalRaceTests {

	private static final Log logger = LogFactory.getLog(RedisRenewalRaceTests.class);

	private static final int THREADS = 4;

	/** One renewal in so many cycles is enough. */
	private static final int FEW = 50;

	/** For the renewals that a test needs to see, however slow or fast the machine is. */
	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** Renewed after a millisecond, and lost after a minute. */
	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final LockSettings SETTINGS = EarlyRenewals.after(1.0 / LEASE.toMillis(),
			LockSettings.defaults()
				.withLease(LEASE)
				.withWaitTime(Duration.ofSeconds(10))
				.withCallTimeout(Duration.ofSeconds(5)));

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void noRenewalBeginsAfterItsReleaseOrProlongsAnything(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		run(client, 10_000);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	@Soak
	void noRenewalOfAMillionBeginsAfterItsReleaseOrProlongsAnything(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		run(client, 1_000_000);
	}

	private void run(Function<RedisConfiguration, RedisConnectionFactory> client, int cycles) throws Exception {
		try (TcpProxy proxy = new TcpProxy(TestRedis.server().address()); Jedis admin = TestRedis.admin()) {
			admin.flushAll();
			AtomicInteger packets = new AtomicInteger();
			proxy
				.onRequest((packet) -> new String(packet).contains(Script.RENEW.digest())
						&& packets.incrementAndGet() % 7 == 0, Effect.DELAY)
				.by(Duration.ofMillis(3));
			RenewalLog log = new RenewalLog(this.processes.provider(client.apply(TestRedis.standalone(proxy.port()))));
			LockTemplate locks = this.processes.locks(log, SETTINGS);
			locks.acquire(LockRequest.of(LockKey.of("warm", "up"))).close();
			AtomicLong prolonged = new AtomicLong();
			long begun = System.nanoTime();
			List<CompletableFuture<Void>> threads = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				LockKey key = LockKey.of("race", "key-" + thread);
				threads.add(CompletableFuture.runAsync(() -> {
					try (Jedis looking = TestRedis.admin()) {
						for (int cycle = 0; cycle < cycles / THREADS || goesOn(log, cycles, begun); cycle++) {
							cycle(locks, key, cycle, looking, prolonged);
						}
					}
				}, (task) -> new Thread(task).start()));
			}
			for (CompletableFuture<Void> thread : threads) {
				thread.get();
			}
			logger.info(cycles + " cycles, " + log.renewed() + " renewals, " + log.underWay()
					+ " under way when the release was called");
			assertThat(log.begunAfterRelease()).isZero();
			assertThat(log.revived()).isZero();
			assertThat(prolonged).hasValue(0);
			assertThat(log.renewed()).isGreaterThan(cycles / FEW);
			assertThat(log.underWay()).isPositive();
			assertThat(admin.keys("*lock:*")).isEmpty();
		}
	}

	/** Whether too few renewals were seen, and there is time to see more. */
	private static boolean goesOn(RenewalLog log, int cycles, long begun) {
		return (log.underWay() == 0 || log.renewed() <= cycles / FEW) && System.nanoTime() - begun < PATIENCE.toNanos();
	}

	private void cycle(LockTemplate locks, LockKey key, int cycle, Jedis looking, AtomicLong prolonged) {
		LockLease lease = locks.acquire(LockRequest.of(key));
		if (cycle % 8 == 0) {
			// Long enough for a renewal to be on its way.
			LockSupport.parkNanos(1_500_000);
		}
		lease.close();
		if (cycle % 8 == 0 && looking.exists(RedisProcesses.LAYOUT.lock(key))) {
			prolonged.incrementAndGet();
		}
	}

}
