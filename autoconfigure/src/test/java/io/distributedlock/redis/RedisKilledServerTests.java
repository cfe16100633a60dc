package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.RedisChannelHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the failure by which callers learn that the server's process has died.
 */
class RedisKilledServerTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("orders", "42"));

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	static Stream<Arguments> clients() {
		Function<RedisConfiguration, RedisConnectionFactory> pooled = (servers) -> TestClients.pooledLettuce(servers,
				TestClients.SAME_PORTS);
		return Stream.concat(TestClients.all(), Stream.of(Arguments.of("lettuce, in Spring's pool", pooled)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void refusedConnectionIsNamed(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		LockTemplate locks = this.processes.locks(client.apply(TestRedis.standalone(server.port())));
		locks.acquire(REQUEST).close();
		server.kill();
		// A call that was under way when the connection broke ends by the time-out.
		await().atMost(Duration.ofMinutes(1)).until(() -> {
			LockProviderException failure = failure(locks, Duration.ZERO);
			return failure.getMessage().contains("Connection refused");
		});
		for (Duration waitTime : List.of(Duration.ZERO, Duration.ofMillis(500))) {
			// A machine that stalls finds that the call has taken too long.
			await().pollDelay(Duration.ZERO)
				.untilAsserted(() -> assertThat(failure(locks, waitTime)).hasMessageContaining("cannot be reached: ")
					.hasMessageContaining("Connection refused")
					.hasMessageContaining(":" + server.port())
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED)));
		}
	}

	@Test
	void brokenSharedConnectionIsNotWaitedFor() {
		RedisServer server = this.processes.closing(new RedisServer());
		LettuceConnectionFactory factory = TestRedis.lettuce(server.port());
		LockTemplate locks = this.processes.locks(this.processes.provider(factory),
				LockSettings.defaults().withCallTimeout(RedisProcesses.TIMEOUT));
		locks.acquire(REQUEST).close();
		server.kill();
		awaitDisconnect(factory);
		LockProviderException failure = failure(locks, Duration.ZERO);
		assertThat(failure).hasMessageContaining("Connection refused");
		assertThat(failure.isEffectUnknown()).isFalse();
		server.start();
		RedisProcesses.acquireAgain(locks, REQUEST).close();
	}

	private static void awaitDisconnect(LettuceConnectionFactory factory) {
		try (RedisConnection connection = factory.getConnection()) {
			AbstractRedisAsyncCommands<?, ?> commands = (AbstractRedisAsyncCommands<?, ?>) connection
				.getNativeConnection();
			RedisChannelHandler<?, ?> shared = (RedisChannelHandler<?, ?>) commands.getConnection();
			await().atMost(Duration.ofMinutes(1)).until(() -> !shared.isOpen());
		}
	}

	private static LockProviderException failure(LockTemplate locks, Duration waitTime) {
		return catchThrowableOfType(LockProviderException.class, () -> locks.acquire(REQUEST.withWaitTime(waitTime)));
	}

}
