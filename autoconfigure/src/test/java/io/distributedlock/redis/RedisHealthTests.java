package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockRequest;
import io.distributedlock.actuate.LockHealthIndicator;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests of the health of a real server. */
class RedisHealthTests {

	private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private LockHealthIndicator indicator(RedisConnectionFactory factory) {
		RedisLockProvider provider = this.processes.provider(factory);
		provider.check(Duration.ofSeconds(30));
		LockTemplate template = this.processes.locks(provider, LockSettings.defaults().withCallTimeout(CALL_TIMEOUT));
		return new LockHealthIndicator(new ManagedProvider("redis", provider, template, null), CALL_TIMEOUT);
	}

	private static Health awaitStatus(LockHealthIndicator indicator, Status status) {
		return await().atMost(Duration.ofMinutes(1))
			.until(() -> indicator.health(), (health) -> health.getStatus().equals(status));
	}

	/**
	 * Asks again after a stall of this machine: a call without a bound is late each time.
	 */
	private static Health boundedHealth(LockHealthIndicator indicator) {
		AtomicReference<Health> health = new AtomicReference<>();
		await().pollDelay(Duration.ZERO).atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
			long begin = System.nanoTime();
			health.set(indicator.health());
			assertThat(Duration.ofNanos(System.nanoTime() - begin))
				.isLessThanOrEqualTo(TimeBounds.withLoad(CALL_TIMEOUT));
		});
		return health.get();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void frozenOrKilledServerIsDown(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		LockHealthIndicator indicator = indicator(client.apply(TestRedis.standalone(server.port())));
		awaitStatus(indicator, Status.UP);
		try (FrozenProcesses frozen = FrozenProcesses.freeze(server.handle())) {
			for (int i = 0; i < 2; i++) {
				Health health = boundedHealth(indicator);
				assertThat(health.getStatus()).isEqualTo(Status.DOWN);
				assertThat(health.getDetails()).containsEntry("errorId", "DL-302");
			}
		}
		awaitStatus(indicator, Status.UP);
		server.kill();
		await().atMost(Duration.ofMinutes(1))
			.until(() -> "DL-301".equals(boundedHealth(indicator).getDetails().get("errorId")));
		assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void replicaIsOutOfService(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		LockHealthIndicator indicator = indicator(client.apply(TestRedis.standalone(server.port())));
		awaitStatus(indicator, Status.UP);
		try (Jedis admin = server.admin()) {
			admin.replicaof("127.0.0.1", TestRedis.port());
			assertThat(awaitStatus(indicator, Status.OUT_OF_SERVICE).getDetails()).containsEntry("errorId", "DL-311");
			admin.replicaofNoOne();
			awaitStatus(indicator, Status.UP);
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void fullServerIsOutOfService(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		LockHealthIndicator indicator = indicator(client.apply(TestRedis.standalone(server.port())));
		awaitStatus(indicator, Status.UP);
		try (Jedis admin = server.admin()) {
			admin.configSet("maxmemory", "1");
			assertThat(awaitStatus(indicator, Status.OUT_OF_SERVICE).getDetails()).containsEntry("errorId", "DL-311");
			admin.configSet("maxmemory", "0");
			awaitStatus(indicator, Status.UP);
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void probeWritesNothingAndNoBusyLockChangesIt(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisConnectionFactory factory = client.apply(TestRedis.standalone(server.port()));
		RedisLockProvider provider = this.processes.provider(factory);
		try (Jedis admin = server.admin()) {
			provider.probe(Duration.ofSeconds(30));
			assertThat(admin.dbSize()).isZero();
			LockTemplate locks = this.processes.locks(provider, LockSettings.defaults());
			try (LockLease lease = locks.acquire(LockRequest.of(LockKey.of("orders", "42")))) {
				provider.probe(Duration.ofSeconds(30));
				lease.ensureHeld();
			}
			String format = new String(RedisProcesses.LAYOUT.format());
			admin.set(format, "7");
			LockHealthIndicator indicator = new LockHealthIndicator(new ManagedProvider("redis", provider, locks, null),
					Duration.ofSeconds(30));
			assertThat(indicator.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
			assertThat(indicator.health().getDetails()).containsEntry("errorId", "DL-306");
		}
	}

}
