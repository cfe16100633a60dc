package io.distributedlock.redis;

import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.MigrateParams;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.RedisLockKeys;
import io.distributedlock.testkit.TimeBounds;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of slots that migrate to another master while their locks are in use.
 */
@Tag("full")
class RedisSlotMigrationTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockKey FRESH = LockKey.of("orders", "42-fresh");

	private static final int MIGRATION_MILLIS = 5000;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final RedisLockKeys keys = RedisProcesses.LAYOUT.keys(KEY);

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void locksAreRenewedWhileTheirSlotMigrates(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = this.processes.closing(new TestCluster(0));
		int slot = TestCluster.slot(this.keys.lock());
		RedisServer from = cluster.owner(slot);
		RedisServer to = cluster.masters().stream().filter((node) -> node != from).findFirst().orElseThrow();
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		RedisLockProvider rival = this.processes.provider(client.apply(cluster.configuration()));
		LockTemplate locks = this.processes.locks(client.apply(cluster.configuration()));
		try (Jedis source = from.admin(); Jedis target = to.admin()) {
			LockGrant held = RedisProcesses.acquire(provider, KEY);
			assertThat(RedisProcesses.attempt(rival, KEY)).isInstanceOf(AttemptResult.Busy.class);
			LockGrant sibling = RedisProcesses.acquire(provider, inSlot(slot, KEY));
			target.clusterSetSlotImporting(slot, source.clusterMyId());
			source.clusterSetSlotMigrating(slot, target.clusterMyId());
			assertBusy(rival);
			assertRenewed(provider, held, sibling);
			migrate(source, to, this.keys.lock());
			assertTryAgain(rival);
			assertRenewed(provider, held, sibling);
			migrate(source, to);
			assertBusy(rival);
			assertRenewed(provider, held, sibling);
			target.clusterSetSlotNode(slot, target.clusterMyId());
			source.clusterSetSlotNode(slot, target.clusterMyId());
			assertRenewed(provider, held, sibling);
			assertThat(RedisProcesses.attempt(rival, KEY)).isInstanceOf(AttemptResult.Busy.class);
			assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
			LockGrant next = RedisProcesses.acquire(rival, KEY);
			assertThat(next.order()).isGreaterThan(held.order());
			try (LockLease lease = locks.acquire(LockRequest.of(FRESH))) {
				lease.ensureHeld();
			}
			assertThat(target.exists(this.keys.lock())).isTrue();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waiterAcquiresAfterItsSlotMigrated(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = this.processes.closing(new TestCluster(0));
		int slot = TestCluster.slot(this.keys.lock());
		RedisServer from = cluster.owner(slot);
		RedisServer to = cluster.masters().stream().filter((node) -> node != from).findFirst().orElseThrow();
		LockTemplate locks = this.processes.locks(client.apply(cluster.configuration()));
		LockTemplate others = this.processes.locks(client.apply(cluster.configuration()));
		Duration leaseTime = Duration.ofSeconds(3);
		LockLease held = locks.acquire(LockRequest.of(KEY).withLease(leaseTime));
		var waiter = others.acquireAsync(LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1)));
		try (Jedis source = from.admin(); Jedis target = to.admin()) {
			await().until(() -> !LockValues.queue(source, this.keys).isEmpty());
			target.clusterSetSlotImporting(slot, source.clusterMyId());
			source.clusterSetSlotMigrating(slot, target.clusterMyId());
			migrate(source, to);
			target.clusterSetSlotNode(slot, target.clusterMyId());
			source.clusterSetSlotNode(slot, target.clusterMyId());
			await().during(leaseTime).atMost(leaseTime.multipliedBy(2)).until(held::isHeld);
			assertThat(waiter).isNotDone();
			held.close();
			await().until(waiter::isDone);
			LockLease next = waiter.join();
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			next.close();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void replicatedLockIsGrantedAfterItsSlotMigrated(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		TestCluster cluster = this.processes.closing(new TestCluster(2));
		RedisServer from = cluster.masters().get(0);
		RedisServer to = cluster.masters().get(1);
		LockKey key = cluster.key(from, true);
		byte[] lock = RedisProcesses.LAYOUT.lock(key);
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()),
				new RedisLockSettings(RedisProcesses.PREFIX, 1, Duration.ofSeconds(4)));
		LockGrant held = RedisProcesses.acquire(provider, key);
		try (Jedis source = from.admin(); Jedis target = to.admin()) {
			target.clusterSetSlotImporting(TestCluster.slot(lock), source.clusterMyId());
			source.clusterSetSlotMigrating(TestCluster.slot(lock), target.clusterMyId());
			migrate(source, to, lock);
			migrate(source, to, RedisProcesses.LAYOUT.keys(key).lastOrder());
			target.clusterSetSlotNode(TestCluster.slot(lock), target.clusterMyId());
			source.clusterSetSlotNode(TestCluster.slot(lock), target.clusterMyId());
			await().ignoreExceptions().until(() -> RedisProcesses.renew(provider, held) == RenewalOutcome.RENEWED);
			assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(RedisProcesses.acquire(provider, key).order()).isGreaterThan(held.order());
			assertThat(target.exists(lock)).isTrue();
		}
	}

	private static LockKey inSlot(int slot, LockKey except) {
		return IntStream.range(0, 10_000)
			.mapToObj((number) -> LockKey.of("orders", "sibling-" + number))
			.filter((key) -> TestCluster.slot(RedisProcesses.LAYOUT.lock(key)) == slot && !key.equals(except))
			.findFirst()
			.orElseThrow();
	}

	/** Asserts that the lock is busy: its keys are together. */
	private static void assertBusy(RedisLockProvider rival) {
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.untilAsserted(() -> assertThat(RedisProcesses.attempt(rival, KEY)).isInstanceOf(AttemptResult.Busy.class));
	}

	/** Asserts TRYAGAIN: the lock has moved, and the last order has not. */
	private static void assertTryAgain(RedisLockProvider rival) {
		// On a slow machine the last try may end without an answer, or late.
		await().atMost(Duration.ofMinutes(1))
			.untilAsserted(() -> assertThat(failure(rival)).hasMessageContaining("TRYAGAIN")
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse()));
	}

	private static LockProviderException failure(RedisLockProvider rival) {
		Duration timeout = Duration.ofMillis(500);
		LockProviderException[] failure = new LockProviderException[1];
		long start = System.nanoTime();
		assertThatExceptionOfType(LockProviderException.class)
			.isThrownBy(() -> resultOf(
					RedisProcesses.enter(rival, KEY).attempt(OwnerId.random(), RedisProcesses.LEASE, true, timeout),
					timeout))
			.satisfies((ex) -> failure[0] = ex);
		assertThat(Duration.ofNanos(System.nanoTime() - start))
			.isLessThan(TimeBounds.withLoad(timeout.plusMillis(250)));
		return failure[0];
	}

	/** Asserts renewals, also if one key of the batch has migrated and the other not. */
	private static void assertRenewed(RedisLockProvider provider, LockGrant first, LockGrant second) {
		Map<LockGrant, Duration> leases = Map.of(first, RedisProcesses.LEASE, second, RedisProcesses.LEASE);
		assertThat(resultOf(provider.renew(leases, RedisProcesses.TIMEOUT)))
			.containsEntry(first, RenewalOutcome.RENEWED)
			.containsEntry(second, RenewalOutcome.RENEWED);
	}

	private static void migrate(Jedis source, RedisServer to, byte[] key) {
		source.migrate("127.0.0.1", to.port(), MIGRATION_MILLIS, new MigrateParams(), key);
	}

	/** Migrates all keys of the lock's bucket. */
	private void migrate(Jedis source, RedisServer to) {
		byte[][] keys = source.clusterGetKeysInSlot(TestCluster.slot(this.keys.lock()), 100)
			.stream()
			.map(RedisLayout::bytes)
			.toArray(byte[][]::new);
		source.migrate("127.0.0.1", to.port(), MIGRATION_MILLIS, new MigrateParams(), keys);
	}

}
