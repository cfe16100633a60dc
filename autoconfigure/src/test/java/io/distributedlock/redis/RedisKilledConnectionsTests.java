package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.support.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a server that closes all its connections ten times a second.
 */
class RedisKilledConnectionsTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final Duration TIME = Duration.ofSeconds(4);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final AtomicInteger inside = new AtomicInteger();

	private final AtomicInteger held = new AtomicInteger();

	private final AtomicLong lastToken = new AtomicLong();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void locksExcludeWhileAllConnectionsAreKilledRepeatedly(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		try (Jedis admin = TestRedis.admin()) {
			admin.flushAll();
			LockTemplate keeping = this.processes.locks(client.apply(TestRedis.standalone(TestRedis.port())));
			LockLease kept = keeping.acquire(LockRequest.of(LockKey.of("kept")).withLease(LEASE));
			long end = System.nanoTime() + TIME.toNanos();
			List<CompletableFuture<Void>> contenders = new ArrayList<>();
			for (int process = 0; process < 2; process++) {
				LockTemplate locks = this.processes.locks(client.apply(TestRedis.standalone(TestRedis.port())));
				for (int thread = 0; thread < 3; thread++) {
					contenders
						.add(CompletableFuture.runAsync(() -> contend(locks, end), (task) -> new Thread(task).start()));
				}
			}
			while (System.nanoTime() < end) {
				admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
				admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
				LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
			}
			for (CompletableFuture<Void> contender : contenders) {
				contender.get(10, TimeUnit.SECONDS);
			}
			assertThat(this.held.get()).isGreaterThan(20);
			kept.ensureHeld();
			kept.close();
			await().until(() -> admin.keys("*lock:*").isEmpty());
		}
	}

	private void contend(LockTemplate locks, long end) {
		while (System.nanoTime() < end) {
			try (LockLease lease = locks.acquire(LockRequest.of(KEY).withLease(LEASE))) {
				assertThat(this.inside.incrementAndGet()).isEqualTo(1);
				assertThat(lease.fencingToken().value()).isGreaterThan(this.lastToken.get());
				this.lastToken.set(lease.fencingToken().value());
				this.held.incrementAndGet();
				LockSupport.parkNanos(1_000_000);
				lease.ensureHeld();
				this.inside.decrementAndGet();
			}
			catch (LockProviderException ex) {
				LockSupport.parkNanos(1_000_000);
			}
		}
	}

}
