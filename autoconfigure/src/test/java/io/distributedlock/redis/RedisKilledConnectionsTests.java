package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
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
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a server that closes all its connections ten times a second.
 */
@Tag("full")
class RedisKilledConnectionsTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration LEASE = Duration.ofSeconds(4);

	/** The lease of a lock that is kept, and for how long at least. */
	private static final Duration TIME = Duration.ofSeconds(6);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	/** For the holds that the test needs to see. */
	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int HOLDS = 20;

	private final AtomicBoolean over = new AtomicBoolean();

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
			LockLease kept = keeping.acquire(LockRequest.of(LockKey.of("kept")).withLease(TIME));
			List<CompletableFuture<Void>> contenders = new ArrayList<>();
			for (int process = 0; process < 2; process++) {
				LockTemplate locks = this.processes.locks(client.apply(TestRedis.standalone(TestRedis.port())));
				for (int thread = 0; thread < 3; thread++) {
					contenders
						.add(CompletableFuture.runAsync(() -> contend(locks), (task) -> new Thread(task).start()));
				}
			}
			long begun = System.nanoTime();
			while (goesOn(Duration.ofNanos(System.nanoTime() - begun))) {
				admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
				admin.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
				LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
			}
			this.over.set(true);
			for (CompletableFuture<Void> contender : contenders) {
				contender.get(30, TimeUnit.SECONDS);
			}
			assertThat(this.held.get()).isGreaterThan(HOLDS);
			kept.ensureHeld();
			kept.close();
			await().until(() -> admin.keys("*lock:*").isEmpty());
		}
	}

	private boolean goesOn(Duration time) {
		return time.compareTo(TIME) < 0 || (this.held.get() <= HOLDS && time.compareTo(PATIENCE) < 0);
	}

	private void contend(LockTemplate locks) {
		while (!this.over.get()) {
			try (LockLease lease = locks.acquire(LockRequest.of(KEY).withLease(LEASE))) {
				assertThat(this.inside.incrementAndGet()).isEqualTo(1);
				assertThat(lease.fencingToken().value()).isGreaterThan(this.lastToken.get());
				this.lastToken.set(lease.fencingToken().value());
				this.held.incrementAndGet();
				LockSupport.parkNanos(1_000_000);
				lease.ensureHeld();
				this.inside.decrementAndGet();
			}
			catch (LockProviderException | LockNotAcquiredException ex) {
				// A grant whose answer was lost lasts until its release gets through.
				LockSupport.parkNanos(1_000_000);
			}
		}
	}

}
