package io.distributedlock.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ReadFrom;
import io.lettuce.core.api.StatefulConnection;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.FrozenProcesses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests with a static master/replica configuration, whose nodes only the factory knows.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class RedisStaticMasterReplicaTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final LockRequest REQUEST = RedisProcesses.request(KEY, RedisProcesses.LEASE,
			Duration.ofSeconds(30));

	private static RedisServer master;

	private static RedisServer replica;

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@BeforeAll
	static void start() {
		master = new RedisServer("--repl-diskless-sync-delay", "0");
		replica = RedisServer.replicaOf(master);
	}

	@AfterAll
	static void stop() {
		replica.close();
		master.close();
	}

	private static LettuceConnectionFactory factory(boolean shared) {
		return factory(shared, LettuceClientConfiguration.builder());
	}

	private static LettuceConnectionFactory factory(boolean shared, LettuceClientConfigurationBuilder client) {
		RedisStaticMasterReplicaConfiguration nodes = new RedisStaticMasterReplicaConfiguration("127.0.0.1",
				replica.port());
		nodes.addNode("127.0.0.1", master.port());
		LettuceConnectionFactory factory = new LettuceConnectionFactory(nodes,
				client.readFrom(ReadFrom.REPLICA_PREFERRED).shutdownTimeout(Duration.ZERO).build());
		factory.setShareNativeConnection(shared);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void locksAreAcquiredRenewedAndReleasedOnTheMaster(boolean shared) {
		RedisLockProvider provider = this.processes.provider(factory(shared));
		Jedis admin = this.processes.closing(master.admin());
		provider.check(RedisProcesses.TIMEOUT);
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		assertThat(admin.exists(RedisProcesses.LAYOUT.lock(KEY))).isTrue();
		assertThat(RedisProcesses.renew(provider, grant)).isEqualTo(RenewalOutcome.RENEWED);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void waitingProcessesPollWithOneWarning(boolean shared, CapturedOutput output) throws Exception {
		LockSettings settings = LockSettings.defaults().withCallTimeout(RedisProcesses.TIMEOUT);
		LockTemplate holder = this.processes.locks(this.processes.provider(factory(shared)), settings);
		LockTemplate waiter = this.processes.locks(this.processes.provider(factory(shared)), settings);
		for (int round = 0; round < 2; round++) {
			LockLease held = holder.acquire(REQUEST);
			CompletableFuture<LockLease> waiting = waiter.acquireAsync(REQUEST);
			assertThat(waiter.tryAcquire(REQUEST.withWaitTime(Duration.ofMillis(500)))).isNull();
			held.close();
			waiting.get(1, TimeUnit.MINUTES).close();
		}
		assertThat(output.getOut().split("The subscription to '", -1)).hasSize(2);
		assertThat(output).contains("static master/replica configuration");
	}

	@Test
	void connectionOfThePoolOfTheApplicationGoesBackAfterEachUse() {
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		pool.setMaxWait(Duration.ofSeconds(20));
		LettuceConnectionFactory factory = factory(false, LettucePoolingClientConfiguration.builder().poolConfig(pool));
		RedisLockProvider provider = this.processes.provider(factory);
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		try (RedisConnection connection = factory.getConnection()) {
			assertThat(connection.ping()).isEqualTo("PONG");
		}
	}

	@Test
	void minReplicasAreRefusedByTheCheck() {
		RedisLockProvider provider = this.processes.provider(factory(true),
				new RedisLockSettings(RedisProcesses.PREFIX, 1, Duration.ofMillis(500)));
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.withMessageContaining("distributed-lock.redis.min-replicas")
			.withMessageContaining("static master/replica");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> RedisProcesses.attempt(provider, KEY))
			.withMessageContaining("min-replicas");
	}

	@Test
	void locksAreServedAgainAfterTheMasterDidNotReply() {
		RedisLockProvider provider = this.processes.provider(factory(true));
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		try (FrozenProcesses frozen = FrozenProcesses.freeze(master.handle())) {
			assertThatExceptionOfType(LockProviderException.class)
				.isThrownBy(() -> RedisProcesses.renew(provider, grant));
		}
		await().ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> RedisProcesses.renew(provider, grant) == RenewalOutcome.RENEWED);
		await().until(() -> RedisProcesses.release(provider, grant) != ReleaseOutcome.UNKNOWN);
	}

}
