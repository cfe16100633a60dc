package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A primary that becomes a replica while its connections stay open, as in a managed
 * service whose one name leads to another server then.
 */
@Tag("full")
class RedisDemotedServerTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final LockRequest REQUEST = RedisProcesses.request(KEY, RedisProcesses.LEASE, PATIENCE);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	static Stream<Arguments> clients() {
		BiFunction<RedisConfiguration, IntUnaryOperator, RedisConnectionFactory> lettuce = TestClients::lettuce;
		BiFunction<RedisConfiguration, IntUnaryOperator, RedisConnectionFactory> jedis = TestClients::jedis;
		BiFunction<RedisConfiguration, IntUnaryOperator, RedisConnectionFactory> pooled = TestClients::pooledLettuce;
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("jedis", jedis),
				Arguments.of("lettuce, in Spring's pool", pooled));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void locksAreAcquiredFromTheNewPrimary(String name,
			BiFunction<RedisConfiguration, IntUnaryOperator, RedisConnectionFactory> client) {
		RedisServer former = this.processes.closing(new RedisServer());
		RedisServer present = this.processes.closing(new RedisServer());
		AtomicInteger port = new AtomicInteger(former.port());
		LockTemplate locks = this.processes
			.locks(client.apply(TestRedis.standalone(former.port()), (announced) -> port.get()));
		locks.acquire(REQUEST).close();
		port.set(present.port());
		try (Jedis admin = former.admin()) {
			admin.replicaof("127.0.0.1", present.port());
		}
		try (LockLease lease = locks.acquire(REQUEST); Jedis admin = present.admin()) {
			lease.ensureHeld();
			assertThat(admin.exists(RedisProcesses.LAYOUT.keys(KEY).lock())).isTrue();
		}
	}

	/** Nobody attempts to acquire a lock meanwhile. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void heldLockIsRenewedOnTheNewPrimary(String name,
			BiFunction<RedisConfiguration, IntUnaryOperator, RedisConnectionFactory> client) {
		RedisServer former = this.processes.closing(new RedisServer());
		RedisServer present = this.processes.closing(new RedisServer());
		AtomicInteger port = new AtomicInteger(former.port());
		try (Jedis admin = present.admin()) {
			admin.replicaof("127.0.0.1", former.port());
		}
		RedisLockProvider provider = this.processes
			.provider(client.apply(TestRedis.standalone(former.port()), (announced) -> port.get()));
		LockContender contender = RedisProcesses.enter(provider, KEY);
		LockGrant grant = RedisProcesses.granted(
				resultOf(contender.attempt(OwnerId.random(), PATIENCE.multipliedBy(5), false, RedisProcesses.TIMEOUT),
						RedisProcesses.TIMEOUT));
		try (Jedis formerAdmin = former.admin(); Jedis admin = present.admin()) {
			await().atMost(PATIENCE).until(() -> admin.exists(RedisProcesses.LAYOUT.keys(KEY).lock()));
			admin.replicaofNoOne();
			port.set(present.port());
			formerAdmin.replicaof("127.0.0.1", present.port());
		}
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> RedisProcesses.renew(provider, grant) == RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void replicaIsNotConnectedToForEachAttempt() {
		RedisServer primary = this.processes.closing(new RedisServer("--repl-diskless-sync-delay", "0"));
		RedisServer replica = this.processes.closing(new RedisServer("--replicaof", "127.0.0.1 " + primary.port()));
		Jedis admin = this.processes.closing(replica.admin());
		RedisLockProvider provider = this.processes
			.provider(TestClients.pooledLettuce(TestRedis.standalone(replica.port()), TestClients.SAME_PORTS));
		long before = connections(admin);
		long start = System.nanoTime();
		int attempts = 50;
		for (int attempt = 0; attempt < attempts; attempt++) {
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> RedisProcesses.attempt(provider, KEY));
		}
		long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
		assertThat(connections(admin) - before).isLessThanOrEqualTo(Math.min(attempts - 1, 5 + 4 * seconds));
	}

	private static long connections(Jedis admin) {
		return admin.info("stats")
			.lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
			.sum();
	}

}
