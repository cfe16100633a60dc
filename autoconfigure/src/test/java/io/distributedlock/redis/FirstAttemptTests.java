package io.distributedlock.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.OwnerId;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.provider.StoreCall;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.redis.script.Script;
import io.distributedlock.testkit.FrozenProcesses;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/** Tests of the check of the servers before the first attempt. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class FirstAttemptTests {

	private static final String CLIENTS = "io.distributedlock.redis.TestClients#all";

	private static final LockKey KEY = LockKey.of("first");

	private static final byte[] LOCK = RedisProcesses.LAYOUT.lock(KEY);

	private static final byte[] FORMAT = RedisProcesses.LAYOUT.format();

	/** Too short for the answer of a server that is frozen. */
	private static final Duration SHORT = Duration.ofMillis(300);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void newerFormatRefusesTheFirstAttempt(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		try (Jedis admin = server.admin()) {
			admin.set(FORMAT, RedisLayout.bytes("2"));
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> RedisProcesses.attempt(provider, KEY))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NEWER_FORMAT));
			assertThat(admin.exists(LOCK)).isFalse();
			// Whoever corrects it need not restart the application.
			admin.del(FORMAT);
			RedisProcesses.acquire(provider, KEY);
			assertThat(admin.get(FORMAT)).isEqualTo(RedisLayout.bytes("1"));
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void serverThatWasDownAtStartIsCheckedLater(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		LockTemplate locks = this.processes.locks(provider, LockSettings.defaults());
		server.kill();
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
		server.start();
		try (Jedis admin = server.admin()) {
			admin.set(FORMAT, RedisLayout.bytes("2"));
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> RedisProcesses.acquireAgain(locks, LockRequest.of(KEY)))
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NEWER_FORMAT));
			assertThat(admin.exists(LOCK)).isFalse();
		}
	}

	/** Nothing has to be released after it. */
	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void attemptWhoseCheckTakesTooLongWasNotSent(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) throws Exception {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		try (FrozenProcesses freeze = FrozenProcesses.freeze(server.handle())) {
			StoreCall<AttemptResult> call = RedisProcesses.enter(provider, KEY)
				.attempt(OwnerId.random(), RedisProcesses.LEASE, false, SHORT);
			await().atMost(Duration.ofMinutes(1)).until(call::isDone);
			assertThatExceptionOfType(LockProviderException.class).isThrownBy(call::result)
				.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT))
				.satisfies((ex) -> assertThat(ex.isEffectUnknown()).isFalse());
			assertThat(call.mayHaveBeenSent()).isFalse();
			StoreCall<AttemptResult> abandoned = RedisProcesses.enter(provider, KEY)
				.attempt(OwnerId.random(), RedisProcesses.LEASE, false, SHORT);
			abandoned.abandon();
			assertThat(abandoned.mayHaveBeenSent()).isFalse();
		}
		LockGrant grant = await().atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.until(() -> RedisProcesses.acquire(provider, KEY), Objects::nonNull);
		assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void firstAttemptsShareOneCheck() {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider provider = this.processes.provider(TestClients.lettuce(TestRedis.standalone(server.port())));
		try (Jedis admin = server.admin()) {
			CommandStats stats = new CommandStats(admin);
			admin.scriptLoad(Script.CHECK.text());
			admin.scriptLoad(Script.SERVER.text());
			admin.scriptLoad(Script.ATTEMPT.text());
			List<StoreCall<AttemptResult>> calls;
			try (FrozenProcesses freeze = FrozenProcesses.freeze(server.handle())) {
				calls = IntStream.range(0, 20).mapToObj((number) -> attempt(provider, "key-" + number)).toList();
			}
			calls.forEach((call) -> RedisProcesses.granted(resultOf(call, RedisProcesses.TIMEOUT)));
			assertThat(stats.calls()).containsEntry("evalsha", 1L + RedisLayout.BUCKETS + calls.size());
			stats.reset();
			resultOf(attempt(provider, "later"), RedisProcesses.TIMEOUT);
			assertThat(stats.calls()).containsEntry("evalsha", 1L);
		}
	}

	private static StoreCall<AttemptResult> attempt(RedisLockProvider provider, String key) {
		return RedisProcesses.enter(provider, LockKey.of(key))
			.attempt(OwnerId.random(), RedisProcesses.LEASE, false, RedisProcesses.TIMEOUT);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void renewalAndReleaseNeedNoCheck(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer server = this.processes.closing(new RedisServer());
		RedisLockProvider holder = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		LockGrant grant = RedisProcesses.acquire(holder, KEY);
		RedisLockProvider other = this.processes.provider(client.apply(TestRedis.standalone(server.port())));
		try (Jedis admin = server.admin()) {
			admin.set(FORMAT, RedisLayout.bytes("2"));
			assertThat(RedisProcesses.renew(other, grant)).isEqualTo(RenewalOutcome.RENEWED);
			assertThat(RedisProcesses.release(other, grant)).isEqualTo(ReleaseOutcome.RELEASED);
		}
	}

	/** The proxy of a cluster replies so, too, and renewals are divided then. */
	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void serverThatRefusesKeysOfSeveralSlotsIsAccepted(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisServer node = this.processes.closing(new RedisServer("--cluster-enabled", "yes"));
		try (Jedis admin = node.admin()) {
			admin.clusterAddSlotsRange(0, TestCluster.SLOTS - 1);
			await().atMost(TestCluster.START).until(() -> admin.clusterInfo().contains("cluster_state:ok"));
		}
		RedisLockProvider provider = this.processes.provider(client.apply(TestRedis.standalone(node.port())));
		assertThatNoException().isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
		LockGrant one = RedisProcesses.acquire(provider, LockKey.of("one"));
		LockGrant other = RedisProcesses.acquire(provider, LockKey.of("other"));
		assertThat(resultOf(
				provider.renew(Map.of(one, RedisProcesses.LEASE, other, RedisProcesses.LEASE), RedisProcesses.TIMEOUT),
				RedisProcesses.TIMEOUT))
			.containsOnly(Map.entry(one, RenewalOutcome.RENEWED), Map.entry(other, RenewalOutcome.RENEWED));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void eachNodeThatEvictsKeysIsWarnedOfOnce(String name, Function<RedisConfiguration, RedisConnectionFactory> client,
			CapturedOutput output) {
		TestCluster cluster = this.processes.closing(new TestCluster(0, "--cluster-node-timeout", "60000"));
		List<RedisServer> evicting = cluster.masters().subList(1, 3);
		evicting.forEach(FirstAttemptTests::evict);
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		provider.check(RedisProcesses.TIMEOUT);
		provider.check(RedisProcesses.TIMEOUT);
		evicting.forEach(
				(server) -> assertThat(output.toString()).containsOnlyOnce("port " + server.port() + " and run_id"));
		assertThat(output).doesNotContain("port " + cluster.masters().get(0).port() + " and run_id");
	}

	private static void evict(RedisServer server) {
		try (Jedis admin = server.admin()) {
			admin.configSet("maxmemory-policy", "allkeys-lru");
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource(CLIENTS)
	void nodeThatDoesNotReplyAtStartIsCheckedBeforeItsFirstAttempt(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client, CapturedOutput output) throws Exception {
		TestCluster cluster = this.processes.closing(new TestCluster(0, "--cluster-node-timeout", "60000"));
		RedisServer format = cluster.owner(TestCluster.slot(FORMAT));
		RedisServer frozen = cluster.masters().stream().filter((server) -> server != format).findFirst().orElseThrow();
		evict(frozen);
		RedisLockProvider provider = this.processes.provider(client.apply(cluster.configuration()));
		try (FrozenProcesses freeze = FrozenProcesses.freeze(frozen.handle())) {
			assertThatNoException().isThrownBy(() -> provider.check(Duration.ofSeconds(2)));
			RedisProcesses.acquire(provider, cluster.key(format, true));
		}
		assertThat(output).doesNotContain("maxmemory-policy");
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.untilAsserted(() -> RedisProcesses.acquire(provider, cluster.key(frozen, true)));
		assertThat(output.toString()).containsOnlyOnce("port " + frozen.port() + " and run_id");
	}

}
