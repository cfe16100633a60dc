package io.distributedlock.redis;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockListener;
import io.distributedlock.LockRequest;
import io.distributedlock.LossReason;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.redis.script.RedisLayout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of servers that have lost a granted lock: two holders hold it for a while, and
 * the token of the later one is higher.
 */
@Tag("full")
class RedisLostDataTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	/** A third of it leaves time for the server to start again. */
	private static final Duration LEASE = Duration.ofSeconds(12);

	/** Writes unless a higher token was written before; tokens are texts of 19 digits. */
	private static final byte[] FENCED_WRITE = RedisLayout.bytes("""
			local last = redis.call('HGET', KEYS[1], 'fence')
			if last and last > ARGV[1] then return 0 end
			redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])
			return 1""");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void emptyRestartIsALossAtTheNextRenewalAndTokensRise(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		Queue<LossReason> lost = new ConcurrentLinkedQueue<>();
		LockTemplate locks = this.processes.locks(client.apply(TestRedis.standalone(server.port())),
				new LockListener() {

					@Override
					public void onLost(LockLease lease, LossReason reason) {
						lost.add(reason);
					}

				});
		LockTemplate others = this.processes.locks(client.apply(TestRedis.standalone(server.port())));
		LockLease before = locks.acquire(LockRequest.of(KEY).withLease(LEASE));
		server.kill();
		server.start();
		await().atMost(LEASE).until(() -> !before.isHeld());
		await().until(() -> !lost.isEmpty());
		assertThat(lost).containsExactly(LossReason.NOT_HELD);
		try (LockLease after = RedisProcesses.acquireAgain(others, LockRequest.of(KEY))) {
			assertThat(after.fencingToken()).isGreaterThan(before.fencingToken());
			before.close();
			assertThat(locks.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO))).isNull();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void fenceRefusesTheFirstHolderAfterAnEarlyPromotion(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer primary = this.processes.closing(new RedisServer("--repl-diskless-sync-delay", "0"));
		RedisServer replica = this.processes.closing(new RedisServer("--replicaof", "127.0.0.1 " + primary.port()));
		LockTemplate first = this.processes.locks(client.apply(TestRedis.standalone(primary.port())));
		LockTemplate second = this.processes.locks(client.apply(TestRedis.standalone(replica.port())));
		try (Jedis resource = TestRedis.admin(); Jedis promoted = replica.admin()) {
			await().atMost(TestCluster.START)
				.until(() -> promoted.info("replication").contains("master_link_status:up"));
			promoted.replicaofNoOne();
			try (LockLease old = first.acquire(LockRequest.of(KEY));
					LockLease successor = second.acquire(LockRequest.of(KEY))) {
				assertThat(old.isHeld()).isTrue();
				assertThat(successor.isHeld()).isTrue();
				assertThat(successor.fencingToken()).isGreaterThan(old.fencingToken());
				assertThat(write(resource, old, "old")).isTrue();
				assertThat(write(resource, successor, "new")).isTrue();
				assertThat(write(resource, old, "stale")).isFalse();
				assertThat(write(resource, successor, "newer")).isTrue();
				assertThat(resource.hget("fenced", "value")).isEqualTo("newer");
			}
			finally {
				resource.del("fenced");
			}
		}
	}

	private static boolean write(Jedis resource, LockLease lease, String value) {
		return Long.valueOf(1)
			.equals(resource.eval(FENCED_WRITE, 1, RedisLayout.bytes("fenced"),
					RedisLayout.bytes(lease.fencingToken().toSortableText()), RedisLayout.bytes(value)));
	}

}
