package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.FrozenProcesses;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a cluster of three masters with a replica each, two of whose masters do not
 * reply, with clients whose calls occupy workers.
 */
@Tag("full")
class RedisClusterFrozenNodesTests {

	/** Longer than the test of the other master may take. */
	private static final Duration FROZEN_TIMEOUT = Duration.ofMinutes(3);

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final int LOCKS = 500;

	private static TestCluster cluster;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@BeforeAll
	static void start() {
		// A master that reaches no other one stops after this time.
		cluster = new TestCluster(3, "--cluster-node-timeout", "60000", "--cluster-require-full-coverage", "no");
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	static Stream<Arguments> clients() {
		RedisClusterConfiguration servers = cluster.configuration();
		return Stream.of(Arguments.of("jedis", 0, jedis(servers)), Arguments.of("jedis with WAIT", 1, jedis(servers)),
				Arguments.of("lettuce, unshared", 0, TestClients.unsharedLettuce(servers)),
				Arguments.of("lettuce with WAIT", 1, TestClients.lettuce(servers)));
	}

	/** Waits for a reply as long as its caller does. */
	private static JedisConnectionFactory jedis(RedisClusterConfiguration servers) {
		JedisConnectionFactory factory = new JedisConnectionFactory(servers,
				JedisClientConfiguration.builder().readTimeout(FROZEN_TIMEOUT).usePooling().build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private RedisLockProvider provider(RedisConnectionFactory factory, int replicas) {
		return this.processes.provider(factory,
				new RedisLockSettings(RedisProcesses.PREFIX, replicas, Duration.ofSeconds(3)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void locksOfTheLastMasterAreAcquiredRenewedAndReleased(String name, int replicas, RedisConnectionFactory factory)
			throws Exception {
		RedisLockProvider provider = provider(factory, replicas);
		List<RedisServer> masters = cluster.masters();
		LockKey[] keys = masters.stream().map((master) -> cluster.key(master, true, name)).toArray(LockKey[]::new);
		LockGrant[] grants = new LockGrant[masters.size()];
		for (int master = 0; master < masters.size(); master++) {
			grants[master] = RedisProcesses.acquire(provider, keys[master]);
			assertThat(RedisProcesses.renew(provider, grants[master])).isEqualTo(RenewalOutcome.RENEWED);
		}
		LockKey fresh = fresh(masters.get(2), name, 1).get(0);
		try (FrozenProcesses first = FrozenProcesses.freeze(masters.get(0).handle());
				FrozenProcesses second = FrozenProcesses.freeze(masters.get(1).handle())) {
			for (int master = 0; master < 2; master++) {
				occupy(provider, grants[master], fresh(masters.get(master), name, 4));
			}
			assertThat(RedisProcesses.renew(provider, grants[2])).isEqualTo(RenewalOutcome.RENEWED);
			LockGrant grant = RedisProcesses.acquire(provider, fresh);
			assertThat(RedisProcesses.renew(provider, grant)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		}
		assertThat(RedisProcesses.release(provider, grants[2])).isEqualTo(ReleaseOutcome.RELEASED);
		for (LockKey key : keys) {
			try (Jedis admin = cluster.owner(TestCluster.slot(RedisProcesses.LAYOUT.lock(key))).admin()) {
				admin.del(RedisProcesses.LAYOUT.lock(key));
			}
		}
	}

	/**
	 * A call of each kind for each of the workers that were there for a single server.
	 */
	private static void occupy(RedisLockProvider provider, LockGrant grant, List<LockKey> fresh) {
		List<Thread> callers = new ArrayList<>();
		fresh.forEach((key) -> callers.add(begin(
				() -> RedisProcesses.enter(provider, key).attempt(OwnerId.random(), LEASE, false, FROZEN_TIMEOUT))));
		for (int call = 0; call < 4; call++) {
			callers.add(begin(() -> RedisProcesses.enter(provider, grant.key())
				.attempt(OwnerId.random(), LEASE, false, FROZEN_TIMEOUT)));
			callers.add(begin(() -> provider.release(grant.key(), OwnerId.random(), FROZEN_TIMEOUT)));
		}
		for (int call = 0; call < 2; call++) {
			callers.add(begin(() -> provider.renew(Map.of(grant, LEASE), FROZEN_TIMEOUT)));
		}
		// Each has left its call to a worker, and waits for it if the client blocks.
		await().until(() -> callers.stream()
			.map(Thread::getState)
			.allMatch((state) -> state == Thread.State.TERMINATED || state == Thread.State.TIMED_WAITING));
	}

	private static Thread begin(Runnable call) {
		Thread thread = new Thread(call);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	/** Keys in buckets that were not called before. */
	private static List<LockKey> fresh(RedisServer master, String name, int count) {
		Set<Integer> called = new HashSet<>();
		cluster.masters().forEach((any) -> called.add(RedisLayout.bucket(cluster.key(any, true, name))));
		return IntStream.range(0, 10_000)
			.mapToObj((number) -> LockKey.of("fresh", Integer.toString(number)))
			.filter((key) -> cluster.owner(TestCluster.slot(RedisProcesses.LAYOUT.lock(key))) == master)
			.filter((key) -> called.add(RedisLayout.bucket(key)))
			.limit(count)
			.toList();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("replicatedClients")
	void renewalOfManyBucketsWaitsForReplicasFewTimes(String name, RedisConnectionFactory factory) {
		RedisLockProvider provider = provider(factory, 1);
		Map<LockGrant, Duration> leases = new HashMap<>();
		for (int number = 0; number < LOCKS; number++) {
			leases.put(RedisProcesses.acquire(provider, LockKey.of("many-" + name, "" + number)), LEASE);
		}
		renewAll(provider, leases);
		// One for each master, and one for what a worker had before the others came. A
		// thread that pauses while it sends shows nothing.
		await().until(() -> {
			long before = waits();
			renewAll(provider, leases);
			return waits() - before <= 6;
		});
		leases.keySet()
			.forEach((grant) -> assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED));
	}

	static Stream<Arguments> replicatedClients() {
		return Stream.of(Arguments.of("jedis", jedis(cluster.configuration())),
				Arguments.of("lettuce", TestClients.lettuce(cluster.configuration())));
	}

	private static void renewAll(RedisLockProvider provider, Map<LockGrant, Duration> leases) {
		assertThat(resultOf(provider.renew(leases, RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT)).hasSize(LOCKS)
			.allSatisfy((grant, outcome) -> assertThat(outcome).isEqualTo(RenewalOutcome.RENEWED));
	}

	private static long waits() {
		return cluster.masters().stream().mapToLong((master) -> {
			try (Jedis admin = master.admin()) {
				return new CommandStats(admin).calls().getOrDefault("wait", 0L);
			}
		}).sum();
	}

}
