package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.support.LockTemplate;
import io.distributedlock.testkit.TimeBounds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of the errors that the server replies.
 */
class RedisErrorReplyTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockKey OTHER = LockKey.of("orders", "43");

	private static final Duration LEASE = TimeBounds.withLoad(Duration.ofMillis(1500));

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private static RedisConnectionFactory connect(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return client.apply(TestRedis.standalone(TestRedis.port()));
	}

	private static LockProviderException failure(RedisLockProvider provider, LockKey key) {
		LockProviderException[] failure = new LockProviderException[1];
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> RedisProcesses.attempt(provider, key))
			.satisfies((ex) -> failure[0] = ex);
		return failure[0];
	}

	/** Asserts that each step is refused, and that no lock was granted. */
	private static void assertRefusesAll(RedisLockProvider provider, LockGrant held, String code) {
		assertThat(failure(provider, OTHER)).hasMessageContaining(code).satisfies((ex) -> {
			assertThat(((LockProviderException) ex).error()).isEqualTo(LockError.STORE_FAILED);
			assertThat(((LockProviderException) ex).isEffectUnknown()).isFalse();
		});
		try {
			assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.UNKNOWN);
		}
		catch (LockProviderException ex) {
			assertThat(ex).hasMessageContaining(code);
		}
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.UNKNOWN);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void readOnlyServerRefusesAndHeldLocksRemain(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		this.admin.replicaof("127.0.0.1", 1);
		try {
			assertRefusesAll(provider, held, "READONLY");
		}
		finally {
			this.admin.replicaofNoOne();
		}
		assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void serverBusyWithAScriptRefusesAndHeldLocksRemain(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisLockProvider provider = this.processes.provider(connect(client));
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		RedisProcesses.renew(provider, held);
		this.admin.configSet("busy-reply-threshold", "20");
		Thread looping = new Thread(() -> {
			try (Jedis other = TestRedis.admin()) {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> other.eval("while true do end"));
			}
		});
		looping.start();
		try {
			await().until(() -> isBusy(this.admin));
			assertRefusesAll(provider, held, "BUSY");
		}
		finally {
			this.admin.scriptKill();
			looping.join();
			this.admin.configSet("busy-reply-threshold", "5000");
		}
		assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, held)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	private static boolean isBusy(Jedis admin) {
		try {
			admin.ping();
			return false;
		}
		catch (JedisDataException ex) {
			return ex.getMessage().startsWith("BUSY");
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void fullMemoryRefusesGrantsButRenewsAndReleases(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		LockTemplate locks = this.processes.locks(connect(client));
		try (LockLease lease = locks.acquire(LockRequest.of(KEY).withLease(LEASE))) {
			this.admin.configSet("maxmemory", "1");
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(OTHER).withWaitTime(Duration.ZERO)))
				.withMessageContaining("OOM");
			assertThat(locks.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ofMillis(100)))).isNull();
			await().during(LEASE.multipliedBy(2)).until(lease::isHeld);
		}
		finally {
			this.admin.configSet("maxmemory", "0");
		}
		assertThat(this.admin.exists(RedisProcesses.LAYOUT.lock(KEY))).isFalse();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void keyOfAnotherTypeIsAFailureAndRemains(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = this.processes.provider(connect(client));
		RedisLockKeys keys = RedisProcesses.LAYOUT.keys(KEY);
		for (byte[] key : new byte[][] { keys.lock(), keys.lastOrder() }) {
			this.admin.flushAll();
			this.admin.rpush(key, RedisLayout.bytes("not ours"));
			assertThat(failure(provider, KEY)).hasMessageContaining("WRONGTYPE");
			assertThat(this.admin.type(key)).isEqualTo("list");
		}
		this.admin.flushAll();
		LockGrant held = RedisProcesses.acquire(provider, KEY);
		this.admin.rpush(keys.queue(), RedisLayout.bytes("not ours"));
		assertThat(RedisProcesses.enqueue(RedisProcesses.enter(provider, KEY))).isInstanceOf(AttemptResult.Busy.class);
		assertThat(RedisProcesses.renew(provider, held)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(this.admin.type(keys.queue())).isEqualTo("list");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void missingRightIsNotPermitted(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		for (String right : new String[] { "-evalsha", "-set", "-zadd", "-time", "resetkeys" }) {
			RedisRights.grant(this.admin, RedisProcesses.PREFIX, RedisRights.SENT, RedisRights.IN_SCRIPTS,
					RedisRights.CONNECTION);
			this.admin.aclSetUser(RedisRights.USER, right);
			RedisLockProvider provider = this.processes
				.provider(client.apply(RedisRights.login(TestRedis.standalone(TestRedis.port()))));
			assertThat(failure(provider, KEY).error()).as(right).isEqualTo(LockError.NOT_PERMITTED);
			this.admin.flushAll();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void flushedScriptsAreSentAgain(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		LockTemplate locks = this.processes.locks(connect(client));
		long end = System.nanoTime() + LEASE.multipliedBy(2).toNanos();
		Thread flushing = new Thread(() -> {
			try (Jedis other = TestRedis.admin()) {
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

}
