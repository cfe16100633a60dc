package io.distributedlock.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Jedis;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.provider.AttemptResult;
import io.distributedlock.provider.LockContender;
import io.distributedlock.provider.LockGrant;
import io.distributedlock.provider.ReleaseOutcome;
import io.distributedlock.provider.RenewalOutcome;
import io.distributedlock.redis.script.RedisLayout;
import io.distributedlock.testkit.FrozenProcesses;
import io.distributedlock.testkit.StoreFaults;

import static io.distributedlock.testkit.StoreCalls.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/** Tests with the real Twemproxy where the property says that its configuration suits. */
class SuitableTwemproxyTests {

	private static final String HASH_TAG = "hash_tag: \"{}\"\n  auto_eject_hosts: false";

	private static final RedisLockSettings SETTINGS = new RedisLockSettings(RedisProcesses.PREFIX, 0,
			RedisLockSettings.DEFAULT_REPLICA_TIMEOUT, true);

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final List<RedisServer> servers = List.of(new RedisServer(), new RedisServer());

	static Stream<Arguments> clients() {
		Function<RedisConfiguration, RedisConnectionFactory> lettuce = (proxy) -> TestTwemproxy.lettuce(proxy,
				TestClients.SAME_PORTS);
		Function<RedisConfiguration, RedisConnectionFactory> jedis = (proxy) -> TestTwemproxy.jedis(proxy,
				TestClients.SAME_PORTS);
		return Stream.of(Arguments.of("lettuce", lettuce), Arguments.of("jedis", jedis));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void locksOnAllServersAreRenewedTogether(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider(HASH_TAG, client);
		Map<LockGrant, Duration> grants = new HashMap<>();
		for (int number = 0; number < 200; number++) {
			grants.put(RedisProcesses.acquire(provider, key(number)), Duration.ofSeconds(30));
		}
		for (RedisServer server : this.servers) {
			try (Jedis admin = server.admin()) {
				assertThat(admin.keys("*:lock:*")).as("locks of a server").hasSizeGreaterThan(20);
			}
		}
		assertThat(resultOf(provider.renew(grants, RedisProcesses.TIMEOUT), RedisProcesses.TIMEOUT).values())
			.hasSize(grants.size())
			.containsOnly(RenewalOutcome.RENEWED);
		grants.keySet()
			.forEach((grant) -> assertThat(RedisProcesses.release(provider, grant)).isEqualTo(ReleaseOutcome.RELEASED));
	}

	/** As the engine does it: each server's locks are renewed by a call of their own. */
	@Test
	void frozenServerDoesNotStopTheRenewalsOfTheOther() {
		RedisLockProvider provider = provider(HASH_TAG, lettuce());
		provider.check(RedisProcesses.TIMEOUT);
		Map<Object, Map<LockGrant, Duration>> grants = new HashMap<>();
		for (int number = 0; number < 40; number++) {
			LockGrant grant = RedisProcesses.acquire(provider, key(number));
			grants.computeIfAbsent(provider.node(grant.key()), (node) -> new HashMap<>())
				.put(grant, RedisProcesses.LEASE);
		}
		String frozen = TestTwemproxy.runId(this.servers.get(0));
		String healthy = TestTwemproxy.runId(this.servers.get(1));
		assertThat(grants).containsOnlyKeys(frozen, healthy);
		try (StoreFaults.Fault fault = FrozenProcesses.freeze(this.servers.get(0).handle())) {
			Duration timeout = Duration.ofSeconds(1);
			provider.renew(grants.get(frozen), timeout);
			// Twemproxy replies in order, so that the first renewal may wait on the same
			// connection behind those to the frozen server.
			await().atMost(Duration.ofSeconds(20))
				.until(() -> renewed(provider, grants.get(healthy), timeout), Boolean.TRUE::equals);
			assertThat(fault).isNotNull();
		}
	}

	private static boolean renewed(RedisLockProvider provider, Map<LockGrant, Duration> grants, Duration timeout) {
		try {
			Map<LockGrant, RenewalOutcome> outcomes = resultOf(provider.renew(grants, timeout), timeout);
			assertThat(outcomes.values()).doesNotContain(RenewalOutcome.NOT_HELD);
			return outcomes.size() == grants.size()
					&& new HashSet<>(outcomes.values()).equals(Set.of(RenewalOutcome.RENEWED));
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("clients")
	void proxyWithoutHashTagIsRefused(String name, Function<RedisConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider("auto_eject_hosts: false", client);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE))
			.withMessageContaining("hash_tag: \"{}\"")
			.withMessageContaining(TestTwemproxy.runId(this.servers.get(0)))
			.withMessageContaining(TestTwemproxy.runId(this.servers.get(1)));
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> RedisProcesses.attempt(provider, key(0)));
	}

	@Test
	void serversThatDoNotTellTheirRunIdAreRefused() {
		for (RedisServer server : this.servers) {
			try (Jedis admin = server.admin()) {
				admin.aclSetUser("default", "-info");
			}
		}
		RedisLockProvider provider = provider(HASH_TAG, lettuce());
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
			.withMessageContaining("ACL SETUSER default +info");
		for (RedisServer server : this.servers) {
			try (Jedis admin = server.admin()) {
				admin.aclSetUser("default", "+info");
			}
		}
		assertThatNoException().isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
	}

	@Test
	void processesWaitInTheQueueAndPoll() {
		RedisConnectionFactory factory = proxy(HASH_TAG, lettuce());
		RedisLockProvider holder = this.processes.closing(new RedisLockProvider(factory, SETTINGS));
		RedisLockProvider waiter = this.processes.closing(new RedisLockProvider(factory, SETTINGS));
		LockGrant held = RedisProcesses.acquire(holder, key(0));
		LockContender waiting = RedisProcesses.enter(waiter, key(0));
		AttemptResult busy = RedisProcesses.enqueue(waiting);
		assertThat(busy).isInstanceOfSatisfying(AttemptResult.Busy.class,
				(reply) -> assertThat(reply.retryAfter()).isLessThanOrEqualTo(RedisLayout.RESERVATION.dividedBy(2)));
		assertThat(waiter.subscription().isActive()).isFalse();
		assertThat(RedisProcesses.release(holder, held)).isEqualTo(ReleaseOutcome.RELEASED);
		// On a slow machine the reservation has ended meanwhile, and the place is kept.
		await().until(() -> RedisProcesses.enqueue(waiting), AttemptResult.Granted.class::isInstance);
	}

	@Test
	void healthAsksEachServer() {
		RedisLockProvider provider = provider(HASH_TAG, lettuce());
		provider.check(RedisProcesses.TIMEOUT);
		assertThatNoException().isThrownBy(() -> provider.probe(RedisProcesses.TIMEOUT));
		for (RedisServer server : this.servers) {
			server.kill();
			assertFailsUntilStarted(server, provider);
		}
	}

	@Test
	void healthTellsOfAServerThatIsDownSinceBeforeTheStart() {
		RedisConnectionFactory factory = proxy(HASH_TAG, lettuce());
		for (RedisServer server : this.servers) {
			server.kill();
			assertFailsUntilStarted(server, this.processes.closing(new RedisLockProvider(factory, SETTINGS)));
		}
	}

	private static void assertFailsUntilStarted(RedisServer server, RedisLockProvider provider) {
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> provider.probe(RedisProcesses.TIMEOUT));
		server.start();
		await().ignoreExceptions()
			.atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> provider.probe(RedisProcesses.TIMEOUT));
	}

	@Test
	void commandThatOneServerRefusesIsNamedAtStart() {
		RedisConnectionFactory factory = proxy(HASH_TAG, lettuce());
		for (RedisServer server : this.servers) {
			try (Jedis admin = server.admin()) {
				admin.aclSetUser("default", "-zadd");
				RedisLockProvider provider = this.processes.closing(new RedisLockProvider(factory, SETTINGS));
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
					.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.NOT_PERMITTED))
					.withMessageContaining("refuses the command ZADD,");
				admin.aclSetUser("default", "+zadd");
			}
		}
	}

	/** As the documentation has it. */
	@Test
	void applicationStartsWithJedisThatDoesNotGreet() {
		this.servers.forEach(this.processes::closing);
		TwemproxyServer proxy = this.processes.closing(new TwemproxyServer(this.servers, HASH_TAG));
		JedisClientConfigurationBuilderCustomizer noGreeting = (builder) -> builder
			.customizeClientConfig((config) -> config.clientSetInfoConfig(ClientSetInfoConfig.DISABLED));
		new ApplicationContextRunner().withBean(LockUser.class)
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
					DistributedLockAutoConfiguration.class))
			.withBean(JedisClientConfigurationBuilderCustomizer.class, () -> noGreeting)
			.withPropertyValues("spring.application.name=" + RedisProcesses.PREFIX, "spring.data.redis.host=127.0.0.1",
					"distributed-lock.call-timeout=10s", "spring.data.redis.port=" + proxy.port(),
					"spring.data.redis.client-type=jedis", "distributed-lock.fail-fast=true",
					"distributed-lock.redis.twemproxy=true")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				try (LockLease lease = context.getBean(LockOperations.class).acquire(LockRequest.of(key(0)))) {
					lease.ensureHeld();
				}
			});
	}

	@Test
	void clusterClientIsRefused() {
		TestCluster cluster = TestCluster.shared();
		RedisConnectionFactory factory = TestClients.lettuce(cluster.configuration());
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.processes.provider(factory, SETTINGS))
			.withMessageContaining("distributed-lock.redis.twemproxy is true");
	}

	private static Function<RedisConfiguration, RedisConnectionFactory> lettuce() {
		return (proxy) -> TestTwemproxy.lettuce(proxy, TestClients.SAME_PORTS);
	}

	private static LockKey key(int number) {
		return LockKey.of("orders", Integer.toString(number));
	}

	private RedisLockProvider provider(String option, Function<RedisConfiguration, RedisConnectionFactory> client) {
		return this.processes.closing(new RedisLockProvider(proxy(option, client), SETTINGS));
	}

	private RedisConnectionFactory proxy(String option, Function<RedisConfiguration, RedisConnectionFactory> client) {
		this.servers.forEach(this.processes::closing);
		TwemproxyServer proxy = this.processes.closing(new TwemproxyServer(this.servers, option));
		RedisConnectionFactory factory = client.apply(new RedisStandaloneConfiguration("127.0.0.1", proxy.port()));
		this.processes.closing(() -> ((DisposableBean) factory).destroy());
		return factory;
	}

}
