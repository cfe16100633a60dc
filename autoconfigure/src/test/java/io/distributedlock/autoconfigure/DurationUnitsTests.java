package io.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.autoconfigure.jdbc.JdbcLockProperties;
import io.distributedlock.autoconfigure.redis.RedisLockProperties;
import io.distributedlock.autoconfigure.redis.RedisQuorumProperties;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockProperties;

import static org.assertj.core.api.Assertions.assertThat;

class DurationUnitsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withBean(LockUser.class)
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withUserConfiguration(AllStores.class)
		.withPropertyValues("distributed-lock.provider=local");

	@ParameterizedTest
	@ValueSource(strings = { "lease", "wait-time", "max-hold", "call-timeout", "hand-off.max-time",
			"shutdown.grace-period", "transaction.commit-margin", "jdbc.retention", "redis.replica-timeout",
			"zookeeper.session-timeout", "zookeeper.connection-timeout" })
	void durationWithoutAUnitIsRefusedByName(String property) {
		this.runner.withPropertyValues("distributed-lock." + property + "=300")
			.run((context) -> assertRefused(context, property, "300"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "30s", "30000ms", "PT30S", "30S" })
	void durationWithAUnitIsRead(String text) {
		this.runner.withPropertyValues("distributed-lock.lease=" + text)
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).lease())
				.isEqualTo(Duration.ofSeconds(30)));
	}

	@Test
	void unitsAreInfrastructure() {
		this.runner.run((context) -> assertThat(
				context.getBeanFactory().getBeanDefinition("distributedLockDurationUnits").getRole())
			.isEqualTo(BeanDefinition.ROLE_INFRASTRUCTURE));
	}

	@Test
	void zeroNeedsNoUnitWhereZeroIsAllowed() {
		this.runner.withPropertyValues("distributed-lock.wait-time=0")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).waitTime()).isZero());
	}

	@Test
	void numberInYamlIsRefused() {
		this.runner
			.withInitializer((context) -> sources(context.getEnvironment().getPropertySources(),
					new MapPropertySource("yaml", Map.of("distributed-lock.wait-time", 5))))
			.run((context) -> assertRefused(context, "wait-time", "5"));
	}

	@Test
	void numberOfAnEnvironmentVariableIsRefused() {
		this.runner
			.withInitializer((context) -> sources(context.getEnvironment().getPropertySources(),
					new SystemEnvironmentPropertySource("test-systemEnvironment",
							Map.of("DISTRIBUTEDLOCK_MAXHOLD", "60"))))
			.run((context) -> assertRefused(context, "max-hold", "60"));
	}

	@Test
	void numberBehindAPlaceholderIsRefused() {
		this.runner.withPropertyValues("my.lease=30", "distributed-lock.lease=${my.lease}")
			.run((context) -> assertRefused(context, "lease", "30"));
	}

	@Test
	void numberWithAnUnusualSpellingOfTheNameIsRefused() {
		this.runner.withPropertyValues("distributed-lock.waitTime=5")
			.run((context) -> assertRefused(context, "wait-time", "5"));
	}

	@Test
	void durationsOfOtherPropertiesNeedNoUnit() {
		this.runner.withPropertyValues("others.pause=30")
			.run((context) -> assertThat(context.getBean(Others.class).pause()).isEqualTo(Duration.ofMillis(30)));
	}

	private static void sources(MutablePropertySources sources, MapPropertySource added) {
		sources.addFirst(added);
	}

	private static void assertRefused(AssertableApplicationContext context, String property, String value) {
		assertThat(context).getFailure()
			.rootCause()
			.isInstanceOfSatisfying(LockConfigurationException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(LockError.INVALID_PROPERTY))
			.hasMessageContaining("distributed-lock." + property + " is " + value)
			.hasMessageContaining("'" + value + "s'");
	}

	@ConfigurationProperties("others")
	record Others(Duration pause) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties({ JdbcLockProperties.class, RedisLockProperties.class, RedisQuorumProperties.class,
			ZooKeeperLockProperties.class, Others.class })
	static class AllStores {

		AllStores(JdbcLockProperties jdbc, RedisLockProperties redis, ZooKeeperLockProperties zooKeeper) {
			// Properties are bound when something needs them.
		}

	}

}
