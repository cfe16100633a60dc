package io.distributedlock.redis;

import java.time.Duration;
import java.util.Map;

import io.lettuce.core.ReadFrom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.testkit.FrozenProcesses;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests with a client that reads from a replica.
 */
class RedisReadFromReplicaTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	private static final Duration TIMEOUT = Duration.ofMillis(300);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private static LettuceConnectionFactory readingFromReplicas(RedisServer primary) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", primary.port()),
				LettuceClientConfiguration.builder()
					.readFrom(ReadFrom.REPLICA_PREFERRED)
					.shutdownTimeout(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Test
	void primaryWithoutReplyIsNotProbedAtItsReplica() {
		RedisServer primary = this.processes.closing(new RedisServer("--repl-diskless-sync-delay", "0"));
		RedisServer replica = this.processes.closing(new RedisServer("--replicaof", "127.0.0.1 " + primary.port()));
		Jedis admin = this.processes.closing(primary.admin());
		CommandStats read = new CommandStats(this.processes.closing(replica.admin()));
		await().atMost(TestCluster.START).until(() -> admin.info("replication").contains("state=online"));
		RedisLockProvider provider = this.processes.provider(readingFromReplicas(primary));
		LockGrant grant = RedisProcesses.acquire(provider, KEY);
		assertThat(RedisProcesses.renew(provider, grant)).isEqualTo(RenewalOutcome.RENEWED);
		read.reset();
		try (FrozenProcesses frozen = FrozenProcesses.freeze(primary.handle())) {
			for (int round = 0; round < 2; round++) {
				assertThatExceptionOfType(LockProviderException.class)
					.isThrownBy(() -> resultOf(provider.renew(Map.of(grant, RedisProcesses.LEASE), TIMEOUT), TIMEOUT));
			}
			await().during(TIMEOUT)
				.atMost(Duration.ofMinutes(1))
				.until(() -> !read.calls().containsKey("get") && !read.calls().containsKey("evalsha"));
		}
		await().until(() -> RedisProcesses.release(provider, grant) != ReleaseOutcome.UNKNOWN);
	}

}
