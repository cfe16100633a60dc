package io.distributedlock.redis;

import java.time.Duration;
import java.util.function.Function;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a server that accepts commands and delays them.
 */
@Tag("full")
class RedisPauseTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	@AfterEach
	void close() {
		this.admin.clientUnpause();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waitsForAPausedServerEndInTimeAndLeaveNothing(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		LockTemplate locks = this.processes.locks(client.apply(TestRedis.standalone(TestRedis.port())));
		LockLease kept = locks.acquire(LockRequest.of(LockKey.of("kept")).withLease(Duration.ofSeconds(20)));
		for (ClientPauseMode mode : ClientPauseMode.values()) {
			// Once more if this machine pauses too.
			await().pollDelay(Duration.ZERO)
				.atMost(Duration.ofMinutes(1))
				.untilAsserted(() -> assertWaitsEndInTime(locks, mode));
			await().ignoreExceptions().until(() -> {
				locks.acquire(LockRequest.of(KEY)).close();
				return !this.admin.exists(RedisProcesses.LAYOUT.lock(KEY));
			});
		}
		kept.ensureHeld();
		kept.close();
		await().until(() -> this.admin.keys("*lock:*").isEmpty());
	}

	private void assertWaitsEndInTime(LockTemplate locks, ClientPauseMode mode) {
		// For longer than both calls may take.
		this.admin.clientPause(5000, mode);
		for (Duration wait : new Duration[] { Duration.ZERO, Duration.ofMillis(1200) }) {
			long start = System.nanoTime();
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> {
				try (LockLease lease = locks.tryAcquire(LockRequest.of(KEY).withWaitTime(wait))) {
					assertThat(lease).as("a lock of a paused server").isNull();
				}
			}).satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(1450));
		}
	}

}
