package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.TimeBounds;
import io.distributedlock.testkit.WireFault.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests with clients whose own time-out is a minute or short, or that share no
 * connection.
 */
@Tag("full")
class RedisClientTimeoutTests {

	/** Outlasts a stall of the machine after three renewals without a reply. */
	private static final Duration LEASE = Duration.ofSeconds(10);

	/** How long locks are acquired beside a connection without replies. */
	private static final Duration TIME = Duration.ofSeconds(3);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	static Stream<Arguments> clients() {
		return Stream.of(Arguments.of("jedis", (Connector) RedisClientTimeoutTests::jedis),
				Arguments.of("lettuce, nothing shared", (Connector) RedisClientTimeoutTests::lettuce));
	}

	private static RedisConnectionFactory jedis(int port) {
		JedisConnectionFactory factory = new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port),
				JedisClientConfiguration.builder().readTimeout(Duration.ofMinutes(1)).usePooling().build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static RedisConnectionFactory lettuce(int port) {
		LettuceConnectionFactory factory = TestRedis.lettuce(port);
		factory.setShareNativeConnection(false);
		return factory;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void lostRepliesDoNotBlockAllWorkers(String name, Connector client) {
		try (TcpProxy proxy = new TcpProxy(TestRedis.server().address()); Jedis admin = TestRedis.admin()) {
			admin.flushAll();
			admin.scriptLoad(Script.RENEW.text());
			LockTemplate locks = this.processes.locks(client.connect(proxy.port()));
			LockTemplate others = this.processes.locks(TestRedis.lettuce(TestRedis.port()));
			LockKey key = LockKey.of("orders", "42");
			try (LockLease lease = locks.acquire(LockRequest.of(key).withLease(LEASE))) {
				for (int number = 0; number < 3; number++) {
					proxy.onReplyTo((packet) -> new String(packet).contains(Script.RENEW.digest()), Effect.BLACK_HOLE)
						.once();
				}
				await().during(LEASE).atMost(LEASE.multipliedBy(3)).until(lease::isHeld);
				assertThat(others.tryAcquire(LockRequest.of(key).withWaitTime(Duration.ZERO))).isNull();
			}
			others.acquire(LockRequest.of(key)).close();
		}
	}

	@Test
	void unresponsiveSharedConnectionIsNotUsedUntilItReplies() {
		try (TcpProxy proxy = new TcpProxy(TestRedis.server().address())) {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration("127.0.0.1", proxy.port()),
					LettuceClientConfiguration.builder()
						.commandTimeout(TimeBounds.withLoad(700))
						.clientOptions(ClientOptions.builder().timeoutOptions(TimeoutOptions.enabled()).build())
						.shutdownTimeout(Duration.ZERO)
						.build());
			factory.afterPropertiesSet();
			factory.start();
			// Longer than the client's own time-out.
			LockSettings settings = LockSettings.defaults().withCallTimeout(Duration.ofSeconds(5));
			LockTemplate locks = this.processes.locks(this.processes.provider(factory), settings);
			LockKey key = LockKey.of("orders", "43");
			locks.acquire(LockRequest.of(key)).close();
			proxy.onReplyTo((packet) -> new String(packet).contains(Script.ATTEMPT.digest()), Effect.BLACK_HOLE).once();
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(key).withWaitTime(Duration.ZERO)));
			AtomicInteger acquired = new AtomicInteger();
			await().pollInterval(Duration.ofMillis(50)).during(TIME).atMost(TIME.multipliedBy(3)).until(() -> {
				locks.acquire(LockRequest.of(key)).close();
				acquired.incrementAndGet();
				return true;
			});
			assertThat(acquired.get()).isGreaterThan(1);
		}
	}

	@FunctionalInterface
	interface Connector {

		RedisConnectionFactory connect(int port);

	}

}
