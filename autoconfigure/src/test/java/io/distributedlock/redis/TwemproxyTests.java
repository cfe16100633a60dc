package io.distributedlock.redis;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockKey;
import io.distributedlock.LockProviderException;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests with the real Twemproxy, which sends a script to the server of its first key,
 * whatever its other keys are: it is refused unless a property says that it suits.
 */
@Tag("full")
public class TwemproxyTests {

	/** All keys of a bucket are on one server, or those of a lock may be on several. */
	private static final List<String> OPTIONS = List.of("hash_tag: \"{}\"", "preconnect: false");

	@RegisterExtension
	private final RedisProcesses processes = new RedisProcesses();

	private final List<RedisServer> servers = List.of(new RedisServer(), new RedisServer());

	/** Clients that greet the server with no command that closes the connection. */
	static Stream<Arguments> clientsAndOptions() {
		Function<RedisStandaloneConfiguration, RedisConnectionFactory> lettuce = (proxy) -> TestTwemproxy.lettuce(proxy,
				TestClients.SAME_PORTS);
		Function<RedisStandaloneConfiguration, RedisConnectionFactory> jedis = (proxy) -> TestTwemproxy.jedis(proxy,
				TestClients.SAME_PORTS);
		return OPTIONS.stream()
			.flatMap((option) -> Stream.of(Arguments.of("lettuce", option, lettuce),
					Arguments.of("jedis", option, jedis)));
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("clientsAndOptions")
	void proxyThatDividesTheKeysIsRefused(String name, String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider(option, client, this.servers);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE))
			.withMessageContaining("run_id " + TestTwemproxy.runId(this.servers.get(0)))
			.withMessageContaining("run_id " + TestTwemproxy.runId(this.servers.get(1)))
			.withMessageContaining("distributed-lock.redis.twemproxy=true")
			.withMessageContaining("hash_tag")
			.withMessageContaining("distributed-lock.provider");
		assertOnlyTheFormatIsLeft();
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("clientsAndOptions")
	void applicationDoesNotStart(String name, String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client) {
		RedisConnectionFactory factory = factory(option, client, this.servers);
		new ApplicationContextRunner().withBean(LockUser.class)
			.withConfiguration(
					AutoConfigurations.of(RedisLockAutoConfiguration.class, DistributedLockAutoConfiguration.class))
			.withBean(RedisConnectionFactory.class, () -> factory)
			.withPropertyValues("spring.application.name=" + RedisProcesses.PREFIX, "distributed-lock.call-timeout=10s")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageStartingWith(LockError.STORE_UNSUITABLE.id()));
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("clientsAndOptions")
	void attemptThroughTheProxyIsRefused(String name, String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider(option, client, this.servers);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> RedisProcesses.attempt(provider, LockKey.of("first")))
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_UNSUITABLE));
		assertOnlyTheFormatIsLeft();
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("clientsAndOptions")
	void proxyIsRefusedWithoutTheRightToReadInfo(String name, String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client) {
		for (RedisServer server : this.servers) {
			try (Jedis admin = server.admin()) {
				admin.aclSetUser("default", "-info");
			}
		}
		RedisLockProvider provider = provider(option, client, this.servers);
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.withMessageContaining("a server without it");
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("clientsAndOptions")
	void proxyBeforeOneServerIsAccepted(String name, String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider(option, client, this.servers.subList(0, 1));
		assertThatNoException().isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT));
		RedisProcesses.acquire(provider, LockKey.of("first"));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.distributedlock.redis.TestClients#all")
	void proxyThatClosesTheConnectionIsNamedInTheMessage(String name,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client) {
		RedisLockProvider provider = provider(OPTIONS.get(0), client, this.servers);
		assertThatExceptionOfType(LockProviderException.class).isThrownBy(() -> provider.check(RedisProcesses.TIMEOUT))
			.withMessageContaining("Twemproxy");
	}

	private RedisLockProvider provider(String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client, List<RedisServer> behind) {
		return this.processes.closing(new RedisLockProvider(factory(option, client, behind),
				RedisLockSettings.defaults(RedisProcesses.PREFIX)));
	}

	private RedisConnectionFactory factory(String option,
			Function<RedisStandaloneConfiguration, RedisConnectionFactory> client, List<RedisServer> behind) {
		this.servers.forEach(this.processes::closing);
		TwemproxyServer proxy = this.processes.closing(new TwemproxyServer(behind, option));
		RedisConnectionFactory factory = client.apply(new RedisStandaloneConfiguration("127.0.0.1", proxy.port()));
		this.processes.closing(() -> ((DisposableBean) factory).destroy());
		return factory;
	}

	private void assertOnlyTheFormatIsLeft() {
		for (RedisServer server : this.servers) {
			try (Jedis admin = server.admin()) {
				assertThat(admin.keys("*")).isSubsetOf(Set.of("{" + RedisProcesses.PREFIX + ":b00}:format"));
			}
		}
	}

}
