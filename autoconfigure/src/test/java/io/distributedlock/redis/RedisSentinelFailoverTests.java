package io.distributedlock.redis;

import java.time.Duration;
import java.util.Map;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a primary that dies under sentinels.
 */
@Tag("full")
class RedisSentinelFailoverTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockKey REPLICATED = LockKey.of("orders", "43");

	private static final LockKey SHARED = LockKey.of("orders", "44");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void replicaOfADeadPrimaryGrantsWithHigherTokens(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestSentinels sentinels = this.processes.closing(new TestSentinels(Duration.ofSeconds(2)));
		LockTemplate locks = this.processes.locks(client.apply(sentinels.configuration()));
		LockTemplate others = this.processes.locks(client.apply(sentinels.configuration()));
		LockLease before = locks.acquire(LockRequest.of(KEY).withLease(Duration.ofSeconds(1)));
		LockLease kept = locks.acquire(LockRequest.of(REPLICATED).withLease(Duration.ofSeconds(60)));
		LockLease share = locks.acquire(LockRequest.of(SHARED).shared().withLease(Duration.ofSeconds(60)));
		try (Jedis primary = sentinels.primary().admin()) {
			assertThat(primary.waitReplicas(1, 5000)).isEqualTo(1);
		}
		sentinels.primary().kill();
		await().atMost(TestCluster.START).until(() -> {
			long start = System.nanoTime();
			try (LockLease after = others.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ofMillis(200)))) {
				if (after == null) {
					return false;
				}
				assertThat(after.fencingToken()).isGreaterThan(before.fencingToken());
				return true;
			}
			catch (LockException ex) {
				assertThat(ex).isInstanceOf(LockProviderException.class);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(1250));
				return false;
			}
		});
		assertThat(before.isHeld()).isFalse();
		Map.of(REPLICATED, kept, SHARED, share).forEach((key, replicated) -> {
			LockRequest request = LockRequest.of(key).withWaitTime(Duration.ZERO);
			replicated.ensureHeld();
			await().ignoreExceptionsInstanceOf(LockProviderException.class)
				.until(() -> others.tryAcquire(request) == null);
			replicated.close();
			await().ignoreExceptions().until(() -> {
				others.acquire(request).close();
				return true;
			});
		});
	}

}
