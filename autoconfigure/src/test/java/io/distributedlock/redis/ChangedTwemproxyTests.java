package io.distributedlock.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests with the real Twemproxy that restarts with another configuration while locks are
 * held: no lock gets a second holder, and no healthy one is told as lost.
 */
@Tag("full")
class ChangedTwemproxyTests {

	private static final String SUITABLE = "hash_tag: \"{}\"\n  auto_eject_hosts: false";

	private static final String UNSUITABLE = "auto_eject_hosts: false";

	/** More than the uptime of a server may be wrong by. */
	private static final int OLD_SECONDS = 4;

	private static final Duration LONG_LEASE = Duration.ofMinutes(5);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final List<RedisServer> servers = List.of(new RedisServer(), new RedisServer(), new RedisServer());

	private TwemproxyServer proxy;

	static Stream<Arguments> clients() {
		Function<RedisConfiguration, RedisConnectionFactory> lettuce = (proxy) -> TestTwemproxy.lettuce(proxy,
				TestClients.SAME_PORTS);
		Function<RedisConfiguration, RedisConnectionFactory> jedis = (proxy) -> TestTwemproxy.jedis(proxy,
				TestClients.SAME_PORTS);
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("jedis", jedis));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void locksAreNotTakenForLostByAnotherConfiguration(String name,
			Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider(client);
		Map<LockGrant, Duration> grants = acquire(provider);
		this.proxy.restart(this.servers.subList(0, 2), UNSUITABLE);
		assertNoneIsTakenForLost(provider, grants);
		this.proxy.restart(this.servers, SUITABLE);
		assertNoneIsTakenForLost(provider, grants);
		// A server less: each of its buckets has moved, so that it looks restarted.
		this.proxy.restart(this.servers.subList(0, 1), SUITABLE);
		assertNoneIsTakenForLost(provider, grants);
		this.proxy.restart(this.servers.subList(0, 2), SUITABLE);
		await().atMost(Duration.ofSeconds(30)).ignoreExceptions().untilAsserted(() -> {
			assertThat(renew(provider, grants).values()).hasSize(grants.size()).containsOnly(RenewalOutcome.RENEWED);
		});
		this.servers.get(0).kill();
		this.servers.get(0).start();
		await().atMost(Duration.ofSeconds(30))
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(renew(provider, grants).values()).contains(RenewalOutcome.NOT_HELD)
				.contains(RenewalOutcome.RENEWED)
				.doesNotContain(RenewalOutcome.UNKNOWN));
	}

	@Test
	void noLockIsGrantedBehindAnotherConfiguration() {
		assertNoLockIsGranted((proxy) -> TestTwemproxy.lettuce(proxy, TestClients.SAME_PORTS), Duration.ZERO);
	}

	/** Jedis does not tell of disconnects, so that the check is repeated by time. */
	@Test
	@Tag("matrix")
	void noLockIsGrantedBehindAnotherConfigurationByJedisAfterATime() {
		assertNoLockIsGranted((proxy) -> TestTwemproxy.jedis(proxy, TestClients.SAME_PORTS), Duration.ofSeconds(11));
	}

	private void assertNoLockIsGranted(Function<RedisConfiguration, RedisConnectionFactory> client, Duration pause) {
		RedisLockProvider provider = provider(client);
		Map<LockGrant, Duration> grants = acquire(provider);
		await().atMost(Duration.ofMinutes(1)).pollDelay(pause).until(() -> true);
		this.proxy.restart(this.servers.subList(0, 2), UNSUITABLE);
		assertAttemptsAreRefused(provider, grants);
		this.proxy.restart(this.servers.subList(0, 2), SUITABLE);
		for (LockGrant grant : grants.keySet()) {
			await().atMost(Duration.ofSeconds(30))
				.ignoreExceptionsInstanceOf(LockProviderException.class)
				.until(() -> RedisProcesses.attempt(provider, grant.key()), AttemptResult.Busy.class::isInstance);
		}
		this.servers.get(1).kill();
		this.servers.get(1).start();
		this.proxy.restart();
		await().atMost(Duration.ofSeconds(30))
			.ignoreExceptionsInstanceOf(LockProviderException.class)
			.untilAsserted(() -> assertThat(grants.keySet())
				.extracting((grant) -> RedisProcesses.attempt(provider, grant.key()))
				.hasAtLeastOneElementOfType(AttemptResult.Granted.class));
	}

	private static void assertAttemptsAreRefused(RedisLockProvider provider, Map<LockGrant, Duration> grants) {
		for (LockGrant grant : grants.keySet()) {
			await().atMost(Duration.ofSeconds(30)).until(() -> {
				try {
					// Busy if it was sent before the connection broke, and then again.
					assertThat(RedisProcesses.attempt(provider, grant.key()))
						.isNotInstanceOf(AttemptResult.Granted.class);
					return false;
				}
				catch (LockConfigurationException ex) {
					assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE);
					assertThat(ex).hasMessageContaining("hash_tag");
					return true;
				}
				catch (LockProviderException ex) {
					return false;
				}
			});
		}
	}

	/** Renews until the servers have answered, and releases one without effect. */
	private static void assertNoneIsTakenForLost(RedisLockProvider provider, Map<LockGrant, Duration> grants) {
		await().atMost(Duration.ofSeconds(30)).until(() -> {
			try {
				Map<LockGrant, RenewalOutcome> outcomes = renew(provider, grants);
				assertThat(outcomes.values()).doesNotContain(RenewalOutcome.NOT_HELD);
				return outcomes.size() == grants.size();
			}
			catch (LockProviderException ex) {
				return false;
			}
		});
		LockGrant moved = grants.keySet()
			.stream()
			.filter((grant) -> renew(provider, Map.of(grant, LONG_LEASE)).get(grant) == RenewalOutcome.UNKNOWN)
			.findAny()
			.orElseThrow();
		assertThat(RedisProcesses.release(provider, moved)).isEqualTo(ReleaseOutcome.UNKNOWN);
	}

	private static Map<LockGrant, RenewalOutcome> renew(RedisLockProvider provider, Map<LockGrant, Duration> grants) {
		return resultOf(provider.renew(grants, RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT);
	}

	private static Map<LockGrant, Duration> acquire(RedisLockProvider provider) {
		Map<LockGrant, Duration> grants = new HashMap<>();
		for (int number = 0; number < 20; number++) {
			grants.put(RedisProcesses.acquire(provider, LockKey.of("orders", Integer.toString(number))), LONG_LEASE);
		}
		assertThat(renew(provider, grants).values()).containsOnly(RenewalOutcome.RENEWED);
		return grants;
	}

	private RedisLockProvider provider(Function<RedisConfiguration, RedisConnectionFactory> client) {
		List<RedisServer> young = new ArrayList<>(this.servers);
		await().atMost(Duration.ofSeconds(30)).until(() -> {
			young.removeIf(ChangedTwemproxyTests::isOld);
			return young.isEmpty();
		});
		this.servers.forEach(this.processes::closing);
		this.proxy = this.processes.closing(new TwemproxyServer(this.servers.subList(0, 2), SUITABLE));
		RedisConnectionFactory factory = client.apply(new RedisStandaloneConfiguration("127.0.0.1", this.proxy.port()));
		this.processes.closing(() -> ((DisposableBean) factory).destroy());
		RedisLockProvider provider = this.processes.closing(new RedisLockProvider(factory,
				new RedisLockSettings(RedisProcesses.PREFIX, 0, RedisLockSettings.DEFAULT_REPLICA_TIMEOUT, true)));
		provider.check(RedisProcesses.TIMEOUT);
		return provider;
	}

	private static boolean isOld(RedisServer server) {
		try (Jedis admin = server.admin()) {
			return admin.info("server")
				.lines()
				.filter((line) -> line.startsWith("uptime_in_seconds:"))
				.anyMatch((line) -> Integer.parseInt(line.strip().split(":")[1]) >= OLD_SECONDS);
		}
	}

}
