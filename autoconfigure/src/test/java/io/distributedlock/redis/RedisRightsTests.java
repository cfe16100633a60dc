package io.distributedlock.redis;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockKey;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that the documented rights are needed. The contract tests show that they are
 * enough, since they have no others.
 */
class RedisRightsTests {

	private static final LockKey KEY = LockKey.of("orders", "42");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void everyDocumentedRightIsUsedAndNoOther(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		try (Jedis admin = TestRedis.admin()) {
			admin.flushAll();
			admin.aclLogReset();
			RedisRights.grant(admin, RedisProcesses.PREFIX, RedisRights.SENT, RedisRights.IN_SCRIPTS,
					RedisRights.NOTIFICATIONS, RedisRights.CHECK, RedisRights.CONNECTION);
			CommandStats stats = new CommandStats(admin);
			admin.scriptFlush();
			stats.reset();
			RedisLockProvider holder = login(client);
			RedisLockProvider waiter = login(client);
			holder.check(RedisProcesses.TIMEOUT);
			admin.zadd(RedisProcesses.LAYOUT.keys(KEY).lastOrder(), 1L << 52,
					RedisLayout.bytes(RedisLayout.ORDER_MEMBER));
			LockGrant grant = RedisProcesses.acquire(holder, KEY);
			LockContender waiting = RedisProcesses.enter(waiter, KEY);
			RedisProcesses.enqueue(waiting);
			RedisProcesses.enqueue(RedisProcesses.enter(login(client), KEY));
			assertThat(RedisProcesses.renew(holder, grant)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(RedisProcesses.release(holder, grant)).isEqualTo(ReleaseOutcome.RELEASED);
			// On a slow machine the reservation has passed to the other one meanwhile.
			LockGrant next = RedisProcesses
				.granted(await().until(() -> RedisProcesses.enqueue(waiting), AttemptResult.Granted.class::isInstance));
			RedisProcesses.release(waiter, next);
			LockKey another = LockKey.of("another");
			RedisProcesses.release(holder, RedisProcesses.acquire(holder, another));
			List<String> used = Stream.of(RedisRights.SENT, RedisRights.IN_SCRIPTS, List.of("+subscribe"))
				.flatMap(List::stream)
				.map((right) -> right.substring(1))
				.toList();
			await().untilAsserted(() -> assertThat(stats.calls()).containsKeys(used.toArray(String[]::new)));
			assertThat(admin.aclLog()).isEmpty();
		}
	}

	private RedisLockProvider login(Function<RedisConfiguration, RedisConnectionFactory> client) {
		return this.processes.provider(client.apply(RedisRights.login(TestRedis.standalone(TestRedis.port()))));
	}

}
