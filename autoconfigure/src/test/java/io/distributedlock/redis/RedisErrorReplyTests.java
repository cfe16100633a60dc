package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.redis.script.RedisErrors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the errors that the server replies.
 */
@Tag("full")
class RedisErrorReplyTests extends AbstractRedisErrorReplyTests {

	/** Outlasts a stall of the machine. */
	private static final Duration LEASE = Duration.ofSeconds(4);

	/** For this time a lock is only held if it is renewed. */
	private static final Duration LONGER = LEASE.plusSeconds(1);

	private static final LockSettings SETTINGS = LockSettings.defaults().withCallTimeout(RedisProcesses.TIMEOUT);

	RedisErrorReplyTests() {
		super(TestRedis.server());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void locksAreRenewedWhileTheMemoryIsFull(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		LockTemplate locks = this.processes.locks(this.processes.provider(connect(client)), SETTINGS);
		try (LockLease lease = locks.acquire(LockRequest.of(KEY).withLease(LEASE))) {
			this.admin.configSet("maxmemory", "1");
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(OTHER).withWaitTime(Duration.ZERO)))
				.withMessageContaining("OOM");
			assertThat(locks.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ofMillis(100)))).isNull();
			await().during(LONGER).until(lease::isHeld);
		}
		finally {
			this.admin.configSet("maxmemory", "0");
		}
		assertThat(this.admin.exists(RedisProcesses.LAYOUT.lock(KEY))).isFalse();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void flushedScriptsAreSentAgain(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		LockTemplate locks = this.processes.locks(this.processes.provider(connect(client)), SETTINGS);
		long end = System.nanoTime() + LONGER.toNanos();
		Thread flushing = new Thread(() -> {
			try (Jedis other = this.server.admin()) {
				while (System.nanoTime() < end) {
					other.scriptFlush();
					LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
				}
			}
		});
		flushing.start();
		try (LockLease kept = locks.acquire(LockRequest.of(KEY).withLease(LEASE))) {
			while (flushing.isAlive()) {
				locks.acquire(LockRequest.of(OTHER)).close();
				kept.ensureHeld();
			}
		}
		// A release without a reply on a slow machine is repeated later.
		await().until(() -> this.admin.exists(RedisProcesses.LAYOUT.lock(KEY), RedisProcesses.LAYOUT.lock(OTHER)) == 0);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void codeInAKeyThatTheServerQuotesIsNoCode(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer withoutScripts = this.processes.closing(new RedisServer("--rename-command", "EVALSHA", ""));
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(withoutScripts.port())),
				RedisLockSettings.defaults("a READONLY key"));
		LockProviderException denied = failure(provider, KEY);
		assertThat(denied).hasMessageContaining("a READONLY key");
		assertThat(denied.error()).isEqualTo(LockError.NOT_PERMITTED);
		assertThat(RedisErrors.isReadOnly(denied)).isFalse();
	}

}
