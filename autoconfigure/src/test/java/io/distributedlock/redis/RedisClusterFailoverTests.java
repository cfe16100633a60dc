package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a cluster whose master dies, with its replica or without.
 */
@Tag("full")
class RedisClusterFailoverTests {

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void replicaOfADeadMasterGrantsWithHigherTokens(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = this.processes.closing(new TestCluster(1));
		RedisServer dying = cluster.masters().get(0);
		LockKey there = cluster.key(dying, true);
		LockKey elsewhere = cluster.key(dying, false);
		LockTemplate locks = this.processes.locks(client.apply(cluster.configuration()));
		LockTemplate others = this.processes.locks(client.apply(cluster.configuration()));
		LockLease before = locks.acquire(LockRequest.of(there).withLease(Duration.ofSeconds(2)));
		LockLease untouched = locks.acquire(LockRequest.of(elsewhere).withLease(Duration.ofSeconds(60)));
		others.acquire(LockRequest.of(LockKey.of("warm", "up"))).close();
		dying.kill();
		AtomicInteger failures = new AtomicInteger();
		assertInTime(() -> others.tryAcquire(LockRequest.of(there).withWaitTime(Duration.ZERO)), failures);
		assertThat(failures).hasValue(1);
		await().atMost(TestCluster.START).until(() -> {
			LockLease after = assertInTime(
					() -> others.tryAcquire(LockRequest.of(there).withWaitTime(Duration.ofMillis(200))), failures);
			if (after == null) {
				return false;
			}
			assertThat(after.fencingToken()).isGreaterThan(before.fencingToken());
			after.close();
			return true;
		});
		assertThat(before.isHeld()).isFalse();
		untouched.ensureHeld();
		untouched.close();
		RedisProcesses.acquireAgain(others, LockRequest.of(elsewhere)).close();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void closedProviderLeavesNoCallToADeadMaster(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = this.processes.closing(new TestCluster(0));
		RedisServer dead = cluster.masters().get(0);
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		dead.kill();
		Duration timeout = Duration.ofMillis(100);
		for (int number = 0; number < 4; number++) {
			LockKey there = cluster.key(dead, true, "order", String.valueOf(number));
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> resultOf(RedisProcesses.enter(provider, there)
					.attempt(OwnerId.random(), RedisProcesses.LEASE, false, timeout), timeout));
		}
		provider.close();
		await().atMost(TimeBounds.withLoad(1000))
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().startsWith("distributed-lock-redis-call")));
	}

	/** Asserts that an attempt ends in time: granted, busy or with a typed failure. */
	private static LockLease assertInTime(Supplier<LockLease> acquire, AtomicInteger failures) {
		long start = System.nanoTime();
		try {
			return acquire.get();
		}
		catch (LockException ex) {
			assertThat(ex).isInstanceOf(LockProviderException.class);
			failures.incrementAndGet();
			return null;
		}
		finally {
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeBounds.withLoad(1250));
		}
	}

}
