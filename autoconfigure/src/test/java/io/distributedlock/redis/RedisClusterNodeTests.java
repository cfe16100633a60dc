package io.distributedlock.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the nodes that a provider names to the engine.
 */
@Tag("full")
class RedisClusterNodeTests {

	/** Longer than a slow machine needs to acquire thousands of locks. */
	private static final Duration LONG_LEASE = Duration.ofMinutes(10);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void keysOfOneMasterHaveOneNode(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = TestCluster.shared();
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		Set<Object> all = new HashSet<>();
		for (RedisServer master : cluster.masters()) {
			Set<Object> nodes = new HashSet<>();
			for (int number = 0; number < 5; number++) {
				LockKey key = cluster.key(master, true, "node-" + number);
				RedisProcesses.release(provider, RedisProcesses.acquire(provider, key));
				nodes.add(provider.node(key));
			}
			assertThat(nodes).hasSize(1);
			all.addAll(nodes);
		}
		assertThat(all).hasSameSizeAs(cluster.masters());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void manyLocksAreRenewedByFewCommands(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = TestCluster.shared();
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		Map<LockGrant, Duration> leases = new HashMap<>();
		int locks = provider.renewalBatchSize() / 4;
		for (int number = 0; number < locks; number++) {
			LockContender contender = RedisProcesses.enter(provider, LockKey.of("many", "" + number));
			leases.put(RedisProcesses
				.granted(resultOf(contender.attempt(OwnerId.random(), LONG_LEASE, false, RedisProcesses.TIMEOUT),
						RedisProcesses.TIMEOUT)),
					LONG_LEASE);
		}
		// The masters may not know the script yet.
		resultOf(provider.renew(leases, RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT);
		long before = scripts(cluster);
		Map<LockGrant, RenewalOutcome> outcomes = resultOf(provider.renew(leases, RedisProcesses.TIMEOUT),
				RedisProcesses.TIMEOUT);
		assertThat(outcomes).hasSize(locks)
			.allSatisfy((grant, outcome) -> assertThat(outcome).isEqualTo(RenewalOutcome.RENEWED));
		assertThat(scripts(cluster) - before).isLessThanOrEqualTo(RedisLayout.BUCKETS);
		leases.keySet().forEach((grant) -> provider.release(grant.key(), grant.owner(), RedisProcesses.TIMEOUT));
	}

	private static long scripts(TestCluster cluster) {
		return cluster.masters().stream().mapToLong((master) -> {
			try (Jedis admin = master.admin()) {
				return CommandStats.ofClients(new CommandStats(admin).calls());
			}
		}).sum();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void nodeIsTheBucketBeforeTheFirstCall(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = TestCluster.shared();
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		for (LockKey key : List.of(LockKey.of("orders", "42"), LockKey.of("orders", "43"))) {
			assertThat(provider.node(key)).isEqualTo(RedisLayout.bucket(key));
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void singleServerIsOneNode(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(TestRedis.port())));
		LockKey key = LockKey.of("orders", "42");
		Object node = provider.node(key);
		RedisProcesses.release(provider, RedisProcesses.acquire(provider, key));
		assertThat(provider.node(key)).isEqualTo(node);
		assertThat(provider.node(LockKey.of("orders", "43"))).isEqualTo(node);
	}

}
