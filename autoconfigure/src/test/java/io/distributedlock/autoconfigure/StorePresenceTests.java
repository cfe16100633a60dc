package io.distributedlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.BeansException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.logging.ConditionEvaluationReportMessage;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockOperations;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;
import io.distributedlock.interceptor.RecordingLockOperations;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.provider.LockProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of each store that is present or absent on the class path, with one or several
 * candidates, and of the words with which the conditions explain themselves. Redis and
 * ZooKeeper are not up.
 */
@Tag("full")
class StorePresenceTests {

	/** A package of each client without which its store is absent. */
	private static final Map<String, String> PACKAGES = Map.of("jdbc", "org.springframework.jdbc.datasource.init",
			"redis", "org.springframework.data.redis", "zookeeper", "org.apache.curator");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class, DataRedisAutoConfiguration.class,
				RedisLockAutoConfiguration.class, ZooKeeperLockAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop", "spring.datasource.generate-unique-name=true",
				"spring.data.redis.port=1", "distributed-lock.zookeeper.connect-string=127.0.0.1:1",
				"distributed-lock.zookeeper.connection-timeout=50ms", "distributed-lock.call-timeout=50ms");

	/** Returns every set of the three clients. */
	static Stream<Set<String>> presences() {
		List<Set<String>> all = new ArrayList<>();
		for (int bits = 0; bits < 8; bits++) {
			List<String> present = new ArrayList<>();
			for (int store = 0; store < 3; store++) {
				if ((bits & 1 << store) != 0) {
					present.add(List.of("jdbc", "redis", "zookeeper").get(store));
				}
			}
			all.add(Set.copyOf(present));
		}
		return all.stream();
	}

	private ApplicationContextRunner with(Set<String> present) {
		String[] hidden = PACKAGES.entrySet()
			.stream()
			.filter((store) -> !present.contains(store.getKey()))
			.map(Map.Entry::getValue)
			.toArray(String[]::new);
		return this.runner.withClassLoader(new FilteredClassLoader(hidden));
	}

	@ParameterizedTest
	@MethodSource("presences")
	void onlyStoreOnTheClassPathIsChosen(Set<String> present) {
		with(present).run((context) -> {
			if (present.size() == 1) {
				assertThat(context).hasNotFailed();
				assertThat(primary(context)).isEqualTo(present.iterator().next());
			}
			else {
				assertThat(failure(context).error())
					.isEqualTo(present.isEmpty() ? LockError.NO_PROVIDER : LockError.SEVERAL_PROVIDERS);
				assertThat(present).allMatch(failure(context).problem()::contains);
			}
		});
	}

	@Test
	void storeOfAContextAboveIsChosen() {
		new ApplicationContextRunner().withBean(DataSource.class, TestDatabases::h2)
			.run((parent) -> new ApplicationContextRunner().withParent(parent)
				.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
						JdbcLockAutoConfiguration.class, RedisLockAutoConfiguration.class))
				.withPropertyValues("spring.application.name=shop")
				.run((context) -> assertThat(primary(context)).isEqualTo("jdbc")));
	}

	@ParameterizedTest
	@MethodSource("presences")
	void localAndNoneNeedNoStore(Set<String> present) {
		for (String provider : List.of("local", "none")) {
			with(present).withPropertyValues("distributed-lock.provider=" + provider).run((context) -> {
				assertThat(context).hasNotFailed().hasSingleBean(LockProvider.class);
				assertThat(primary(context)).isEqualTo(provider);
			});
		}
	}

	@ParameterizedTest
	@MethodSource("presences")
	void nameChoosesOneOrFailsIfItIsAbsent(Set<String> present) {
		with(present).withPropertyValues("distributed-lock.provider=jdbc").run((context) -> {
			if (present.contains("jdbc")) {
				assertThat(context).hasNotFailed().hasSingleBean(LockProvider.class);
				assertThat(primary(context)).isEqualTo("jdbc");
			}
			else {
				assertThat(failure(context).error()).isEqualTo(LockError.NO_PROVIDER);
			}
		});
	}

	@ParameterizedTest
	@MethodSource("presences")
	void ownOperationsNeedNoStore(Set<String> present) {
		with(present).withBean(LockOperations.class, RecordingLockOperations::new)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
	}

	private static String primary(AssertableApplicationContext context) {
		return context.getBean(SelectedLockProvider.class).provider().name();
	}

	private static LockConfigurationException failure(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure instanceof BeansException && failure.getCause() != null) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOf(LockConfigurationException.class);
		return (LockConfigurationException) failure;
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			JdbcLockAutoConfiguration      | jdbc  | distributed-lock.provider names it
			JdbcLockAutoConfiguration      | jdbc  | found bean 'dataSource'
			RedisLockAutoConfiguration     | jdbc  | distributed-lock.provider is 'jdbc'
			ZooKeeperLockAutoConfiguration | jdbc  | distributed-lock.provider is 'jdbc'
			RedisLockAutoConfiguration     | redis | found bean 'redisConnectionFactory'
			LockEngineConfiguration | local | the application defines no LockOperations
			LockEngineConfiguration#distributedLockNoneProvider | local | distributed-lock.provider is 'local'
			""")
	void conditionsExplainThemselves(String source, String provider, String words) {
		this.runner.withPropertyValues("distributed-lock.provider=" + provider)
			.run((context) -> assertThat(report(context.getSourceApplicationContext(), source)).contains(words));
	}

	@Test
	void conditionsExplainAMissingStore() {
		this.runner.withPropertyValues("distributed-lock.provider=", "distributed-lock.zookeeper.connect-string= ")
			.withClassLoader(new FilteredClassLoader(PACKAGES.get("redis")))
			.run((context) -> {
				ConfigurableApplicationContext source = context.getSourceApplicationContext();
				assertThat(report(source, "JdbcLockAutoConfiguration")).contains(
						"distributed-lock.provider is not set, so that every store of the application is a candidate");
				assertThat(report(source, "ZooKeeperLockAutoConfiguration"))
					.contains("distributed-lock.zookeeper.connect-string is not set");
				assertThat(report(source, "RedisLockAutoConfiguration")).contains("did not find required class");
			});
		this.runner.withBean(LockOperations.class, RecordingLockOperations::new).run((context) -> {
			ConfigurableApplicationContext source = context.getSourceApplicationContext();
			assertThat(report(source, "JdbcLockAutoConfiguration"))
				.contains("the application defines a LockProvider or LockOperations");
			assertThat(report(source, "LockEngineConfiguration"))
				.contains("the application, or a context above it, defines LockOperations");
		});
	}

	/** Returns what the report says of one class or method, without line breaks. */
	private static String report(ConfigurableApplicationContext context, String source) {
		String report = new ConditionEvaluationReportMessage(ConditionEvaluationReport.get(context.getBeanFactory()))
			.toString();
		int begin = report.indexOf("   " + source);
		assertThat(begin).as(source).isPositive();
		return report.substring(begin, report.indexOf("\n\n", begin)).replaceAll("\\s+", " ");
	}

}
