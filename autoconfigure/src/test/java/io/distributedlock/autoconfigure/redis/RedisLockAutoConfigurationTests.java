package io.distributedlock.autoconfigure.redis;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockKey;
import io.distributedlock.LockLease;
import io.distributedlock.LockOperations;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.LockUser;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.redis.DistributedLockConnectionFactory;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.TestRedis;
import io.distributedlock.testkit.TcpProxy;
import io.distributedlock.testkit.WireFault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
@Tag("full")
class RedisLockAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class,
				DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.port=" + TestRedis.port(), "spring.data.redis.host=127.0.0.1",
				"spring.application.name=shop", "distributed-lock.call-timeout=10s");

	private static void assertLocksInRedis(ApplicationContext context) {
		try (Jedis admin = TestRedis.admin();
				LockLease lease = context.getBean(LockOperations.class)
					.acquire(LockRequest.of(LockKey.of("orders", "42")))) {
			lease.ensureHeld();
			assertThat(admin.keys("{shop:b*}:lock:orders:42")).hasSize(1);
		}
	}

	private static LockException failure(Throwable thrown) {
		Throwable failure = thrown;
		while (!(failure instanceof LockException)) {
			failure = failure.getCause();
		}
		return (LockException) failure;
	}

	@Test
	void locksAreKeptInTheApplicationsRedisThroughLettuce() {
		this.runner.run(RedisLockAutoConfigurationTests::assertLocksInRedis);
	}

	@Test
	void locksAreKeptInTheApplicationsRedisThroughJedis() {
		this.runner.withPropertyValues("spring.data.redis.client-type=jedis", "distributed-lock.provider=redis")
			.run(RedisLockAutoConfigurationTests::assertLocksInRedis);
		this.runner.withClassLoader(new FilteredClassLoader("io.lettuce"))
			.run(RedisLockAutoConfigurationTests::assertLocksInRedis);
	}

	@Test
	void firstConnectionHasTheTimeThatItsClientHas() {
		this.runner.run((context) -> assertThat(context.getBean(LockStoreLocation.class).startTimeout())
			.isEqualTo(LockStoreLocation.START_TIMEOUT));
		this.runner.withPropertyValues("spring.data.redis.connect-timeout=17s")
			.run((context) -> assertThat(context.getBean(LockStoreLocation.class).startTimeout())
				.isEqualTo(Duration.ofSeconds(17)));
	}

	/** The call ends by the shorter of the two, long before the other. */
	@ParameterizedTest
	@CsvSource({
			"lettuce, 300ms, 20s, 'distributed-lock.call-timeout, or spring.data.redis.timeout if that is shorter'",
			"lettuce, 20s, 300ms, distributed-lock.call-timeout",
			"jedis, 300ms, 20s, 'distributed-lock.call-timeout, or spring.data.redis.timeout if that is shorter'",
			"jedis, 20s, 300ms, distributed-lock.call-timeout" })
	void timeoutNamesThePropertyThatEndsTheCall(String client, String timeout, String callTimeout, String named) {
		try (TcpProxy proxy = new TcpProxy(new InetSocketAddress("127.0.0.1", TestRedis.port()))) {
			this.runner
				.withPropertyValues("spring.data.redis.client-type=" + client, "spring.data.redis.port=" + proxy.port(),
						"spring.data.redis.timeout=" + timeout, "distributed-lock.call-timeout=" + callTimeout,
						"distributed-lock.provider=redis")
				.run((context) -> {
					LockOperations locks = context.getBean(LockOperations.class);
					try (WireFault silent = proxy.blackHole()) {
						assertThatExceptionOfType(LockProviderException.class)
							.isThrownBy(() -> locks
								.acquire(LockRequest.of(LockKey.of("late")).withWaitTime(Duration.ofMillis(50))))
							.withMessageContaining("(" + named)
							.satisfies((ex) -> assertThat(ex.error()).isEqualTo(LockError.STORE_TIMEOUT));
					}
				});
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					key-prefix=a{b | distributed-lock.key-prefix is 'a{b' | key-prefix=ab
					redis.min-replicas=-1 | distributed-lock.redis.min-replicas is -1 | redis.min-replicas=0
					redis.replica-timeout=2h | distributed-lock.redis.replica-timeout is PT2H | redis.replica-timeout=1s
					redis.min-replicas=1,redis.twemproxy=true | Remove min-replicas | redis.min-replicas=0
					spring.data.redis.username=poor,spring.data.redis.password=poor | in another store by distributed-lock.provider | provider=local
					""")
	void namedPropertyRemovesItsMessage(String setUp, String message, String remedy) {
		try (Jedis admin = TestRedis.admin()) {
			admin.aclSetUser("poor", "on", ">poor", "~*", "&*", "+@all", "-zadd");
			ApplicationContextRunner before = with(this.runner, setUp);
			before.run((context) -> assertThat(failure(context.getStartupFailure())).hasMessageContaining(message));
			with(before, remedy).run((context) -> assertThat(context).hasNotFailed());
			admin.aclDelUser("poor");
		}
	}

	private static ApplicationContextRunner with(ApplicationContextRunner runner, String properties) {
		ApplicationContextRunner result = runner;
		for (String property : properties.split(",")) {
			result = result
				.withPropertyValues(property.startsWith("spring.") ? property : "distributed-lock." + property);
		}
		return result;
	}

	@Test
	void lettuceAloneIsEnough() {
		this.runner.withClassLoader(new FilteredClassLoader("redis.clients"))
			.run(RedisLockAutoConfigurationTests::assertLocksInRedis);
	}

	@Test
	void unreachableServerOnlyWarnsWithoutFailFast(CapturedOutput output) {
		ApplicationContextRunner down = this.runner.withPropertyValues("spring.data.redis.port=1",
				"distributed-lock.call-timeout=1s");
		down.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("The lock store 'redis' did not answer at start");
			LockOperations locks = context.getBean(LockOperations.class);
			assertThatExceptionOfType(LockException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of(LockKey.of("orders"))));
		});
		down.withPropertyValues("distributed-lock.fail-fast=true").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure()).error()).isEqualTo(LockError.STORE_DOWN_AT_START);
		});
	}

	@Test
	void newerFormatFailsTheStart() {
		try (Jedis admin = TestRedis.admin()) {
			admin.set("{newer:b00}:format", "2");
		}
		this.runner.withPropertyValues("distributed-lock.key-prefix=newer").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure()).error()).isEqualTo(LockError.NEWER_FORMAT);
		});
	}

	@Test
	void evictingServerLogsAWarning(CapturedOutput output) {
		try (Jedis admin = TestRedis.admin()) {
			admin.configSet("maxmemory-policy", "allkeys-lru");
			try {
				this.runner.run((context) -> assertThat(context).hasNotFailed());
			}
			finally {
				admin.configSet("maxmemory-policy", "noeviction");
			}
			assertThat(output).contains("maxmemory-policy is 'allkeys-lru'");
		}
	}

	@Test
	void replicasHaveToAnswerWithinTheCall() {
		ApplicationContextRunner slow = this.runner.withPropertyValues("distributed-lock.redis.replica-timeout=2s",
				"distributed-lock.call-timeout=2s");
		slow.run((context) -> assertThat(context).hasNotFailed());
		slow.withPropertyValues("distributed-lock.redis.min-replicas=1")
			.run((context) -> assertThat(failure(context.getStartupFailure())).hasMessageStartingWith("DL-514")
				.hasMessageContaining("distributed-lock.redis.replica-timeout is 2000 ms")
				.hasMessageContaining("distributed-lock.call-timeout")
				.hasMessageContaining("Use less than 2000ms"));
	}

	@Test
	void invalidPropertiesFailTheStart() {
		for (String property : new String[] { "distributed-lock.redis.min-replicas=-1",
				"distributed-lock.redis.replica-timeout=0" }) {
			this.runner.withPropertyValues(property).run((context) -> {
				assertThat(context).hasFailed();
				assertThat(failure(context.getStartupFailure())).isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining(property.substring(0, property.indexOf('=')));
			});
		}
	}

	@Test
	void severalServersWithoutAPrimaryOneAreRefused() {
		this.runner.withUserConfiguration(TwoServers.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure())).hasMessageContaining("several RedisConnectionFactory");
		});
	}

	/** The server of the application's own factory does not answer. */
	@Test
	void serverOfTheQualifiedFactoryIsUsed() {
		this.runner.withPropertyValues("spring.data.redis.port=1", "distributed-lock.fail-fast=true")
			.withUserConfiguration(LockServer.class)
			.run((context) -> {
				assertLocksInRedis(context);
				assertThat(context.getBeansOfType(RedisConnectionFactory.class)).hasSize(2);
				assertThat(context.getBean(LockStoreLocation.class).toString()).contains(":" + TestRedis.port());
			});
	}

	@Test
	void severalQualifiedFactoriesAreRefused() {
		this.runner.withUserConfiguration(LockServer.class, SecondLockServer.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context.getStartupFailure())).hasMessageContaining("@DistributedLockConnectionFactory");
		});
	}

	@Test
	void backsOffForAnotherProviderAndWithoutRedis() {
		this.runner.withPropertyValues("distributed-lock.provider=local")
			.run((context) -> assertThat(context).hasSingleBean(LocalLockProvider.class)
				.doesNotHaveBean(RedisLockProvider.class));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(RedisLockAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(RedisLockAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoServers {

		@Bean
		RedisConnectionFactory first() {
			return TestRedis.lettuce(TestRedis.port());
		}

		@Bean
		RedisConnectionFactory second() {
			return TestRedis.lettuce(TestRedis.port());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LockServer {

		@Bean(defaultCandidate = false)
		@DistributedLockConnectionFactory
		RedisConnectionFactory lockServer() {
			return TestRedis.lettuce(TestRedis.port());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondLockServer {

		@Bean(defaultCandidate = false)
		@DistributedLockConnectionFactory
		RedisConnectionFactory secondLockServer() {
			return TestRedis.lettuce(TestRedis.port());
		}

	}

}
