package io.distributedlock.redis;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLockKeys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a connection factory that the application stops and starts, as it does around
 * a checkpoint of the process.
 */
class RedisFactoryRestartTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final RedisLockKeys keys = RedisProcesses.LAYOUT.keys(KEY);

	private final Jedis admin = this.processes.closing(TestRedis.emptied());

	private static RedisConnectionFactory connect(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return client.apply(TestRedis.standalone(TestRedis.port()));
	}

	private long subscribers(RedisLockProvider provider) {
		String channel = RedisProcesses.LAYOUT.channelPrefix() + provider.process();
		return this.admin.pubsubNumSub(channel).get(channel);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void waiterIsNotifiedAfterTheRestart(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider holder = this.processes.provider(connect(client));
		RedisConnectionFactory factory = connect(client);
		RedisLockProvider waiter = this.processes.provider(factory);
		LockGrant grant = RedisProcesses.acquire(holder, KEY);
		AtomicInteger signals = new AtomicInteger();
		LockContender contender = waiter.newContender(KEY, signals::incrementAndGet);
		RedisProcesses.enqueue(contender);
		assertThat(subscribers(waiter)).isEqualTo(1);
		((Lifecycle) factory).stop();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> RedisProcesses.enqueue(contender))
			.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
		((Lifecycle) factory).start();
		// A contender attempts once a second at least.
		await().ignoreExceptionsInstanceOf(LockProviderException.class).until(() -> {
			RedisProcesses.enqueue(contender);
			return waiter.subscription().isActive() && subscribers(waiter) == 1
					&& LockValues.queue(this.admin, this.keys).size() == 1;
		});
		signals.set(0);
		assertThat(RedisProcesses.release(holder, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		await().until(() -> signals.get() > 0);
		RedisProcesses.granted(RedisProcesses.enqueue(contender));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void heldLockIsRenewedAndReleasedAfterTheRestart(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisConnectionFactory factory = connect(client);
		RedisLockProvider provider = this.processes.provider(factory);
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		for (int round = 0; round < 3; round++) {
			((Lifecycle) factory).stop();
			((Lifecycle) factory).start();
			assertThat(RedisProcesses.renew(provider, grant)).isEqualTo(RenewalOutcome.RENEWED);
		}
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.admin.exists(this.keys.lock())).isFalse();
	}

}
