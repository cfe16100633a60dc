package io.distributedlock.redis;

import java.time.Duration;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.FrozenProcesses;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests of a primary with a replica, which can be frozen.
 */
public class RedisReplicaTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static RedisServer primary;

	private static RedisServer replica;

	@BeforeAll
	static void start() {
		primary = new RedisServer("--repl-diskless-sync-delay", "0");
		replica = RedisServer.replicaOf(primary);
	}

	@AfterAll
	static void stop() {
		replica.close();
		primary.close();
	}

	static Stream<Arguments> clients() {
		IntFunction<RedisConnectionFactory> lettuce = TestRedis::lettuce;
		IntFunction<RedisConnectionFactory> jedis = TestRedis::jedis;
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("jedis", jedis));
	}

	private static AttemptResult attempt(RedisLockProvider provider, LockKey key, OwnerId owner) {
		return resultOf(provider.newContender(key, () -> {
		}).attempt(owner, LEASE, false, TIMEOUT));
	}

	private static Map<LockGrant, RenewalOutcome> renew(RedisLockProvider provider, LockGrant grant) {
		return resultOf(provider.renew(Map.of(grant, LEASE), TIMEOUT));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void grantsAndRenewalsCountOnceAReplicaAcknowledges(String name, IntFunction<RedisConnectionFactory> client)
			throws Exception {
		RedisConnectionFactory factory = client.apply(primary.port());
		try (RedisLockProvider provider = new RedisLockProvider(factory,
				new RedisLockSettings("replica", 1, Duration.ofSeconds(1)))) {
			LockKey key = LockKey.of("replicated", name);
			OwnerId first = OwnerId.random();
			// The replica of a machine that stalls acknowledges late.
			AttemptResult granted = await().ignoreExceptionsInstanceOf(LockProviderException.class)
				.until(() -> attempt(provider, key, first), AttemptResult.Granted.class::isInstance);
			LockGrant grant = ((AttemptResult.Granted) granted).grant();
			await().until(() -> renew(provider, grant).get(grant) == RenewalOutcome.RENEWED);
			LockKey second = LockKey.of("replicated", name + "-2");
			OwnerId owner = OwnerId.random();
			try (FrozenProcesses frozen = FrozenProcesses.freeze(replica.handle())) {
				assertThat(attempt(provider, key, OwnerId.random())).isInstanceOf(AttemptResult.Busy.class);
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> attempt(provider, second, owner))
					.satisfies((ex) -> {
						assertThat(ex.error()).isEqualTo(LockError.STORE_FAILED);
						assertThat(ex.isEffectUnknown()).isTrue();
					});
				assertThat(resultOf(provider.release(second, owner, TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
				assertThat(renew(provider, grant)).containsEntry(grant, RenewalOutcome.UNKNOWN);
			}
			await().until(() -> renew(provider, grant).get(grant) == RenewalOutcome.RENEWED);
			assertThat(resultOf(provider.release(key, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		}
		finally {
			((DisposableBean) factory).destroy();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void replicasAcknowledgeAfterTheFactoryWasStoppedAndStarted(String name, IntFunction<RedisConnectionFactory> client)
			throws Exception {
		RedisConnectionFactory factory = client.apply(primary.port());
		try (RedisLockProvider provider = new RedisLockProvider(factory,
				new RedisLockSettings("restarted", 1, TIMEOUT))) {
			LockKey key = LockKey.of("restarted", name);
			LockGrant grant = ((AttemptResult.Granted) attempt(provider, key, OwnerId.random())).grant();
			((Lifecycle) factory).stop();
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> renew(provider, grant))
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
			((Lifecycle) factory).start();
			assertThat(renew(provider, grant)).containsEntry(grant, RenewalOutcome.RENEWED);
			assertThat(resultOf(provider.release(key, grant.owner(), TIMEOUT))).isEqualTo(ReleaseOutcome.RELEASED);
		}
		finally {
			((DisposableBean) factory).destroy();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void readOnlyReplicaFailsTheCheckAndGrantsNothing(String name, IntFunction<RedisConnectionFactory> client)
			throws Exception {
		RedisConnectionFactory factory = client.apply(replica.port());
		try (RedisLockProvider provider = new RedisLockProvider(factory, RedisLockSettings.defaults("readonly"))) {
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> provider.check(TIMEOUT))
				.withMessageContaining("READONLY");
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> attempt(provider, LockKey.of("readonly", name), OwnerId.random()))
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
		}
		finally {
			((DisposableBean) factory).destroy();
		}
	}

}
