package io.distributedlock.autoconfigure;

import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.scheduling.TaskScheduler;

import io.distributedlock.LockOperations;
import io.distributedlock.autoconfigure.fencing.FenceProperties;
import io.distributedlock.autoconfigure.fencing.FenceSchemaInitializer;
import io.distributedlock.autoconfigure.fencing.LockFencingAutoConfiguration;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.jdbc.JdbcLockProperties;
import io.distributedlock.autoconfigure.jdbc.JdbcLockProperties.Pool;
import io.distributedlock.autoconfigure.jdbc.JdbcLockSchemaInitializer;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.fencing.FenceSettings;
import io.distributedlock.fencing.FenceSweeper;
import io.distributedlock.fencing.FencedEnclosingTransaction;
import io.distributedlock.fencing.FencedTransactions;
import io.distributedlock.interceptor.LockAttributeSource;
import io.distributedlock.interceptor.RecordingLockOperations;
import io.distributedlock.jdbc.JdbcLockProvider;
import io.distributedlock.jdbc.JdbcLockSettings;
import io.distributedlock.jdbc.TestDatabases;
import io.distributedlock.jdbc.connection.LockDataSource;
import io.distributedlock.jdbc.rowlock.JdbcRowLockProvider;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.micrometer.MeterLockObserver;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.redis.RedisLockProvider;
import io.distributedlock.redis.RedisLockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests that an application can replace each bean that it can write by one of its own.
 */
@Tag("full")
class ReplacedBeansTests {

	/**
	 * Beans that no application can write, or has a use for. The locks as a whole are
	 * replaced by a bean of the type {@link LockOperations}.
	 */
	private static final Set<String> INFRASTRUCTURE = Set.of("distributedLockDurationUnits", "distributedLockEngines",
			"distributedLockStart", "distributedLockTemplate", "distributedLockStoresCheck",
			"distributedLockJdbcLocation", "distributedLockRedisLocation", "distributedLockZooKeeperLocation",
			"distributedLockZooKeeperClient", "distributedLockRedisQuorumLocation", "distributedLockTimer",
			"distributedLockCallbackThreads", "distributedLockedMethodRegistry", "distributedLockOperationsLookup",
			"distributedLockAdvisor", "distributedLockedBeanVerifier", "distributedLockMethodLimitsCheck",
			"distributedLockCommitGuardProcessor", "distributedLockChildTransactionsWarning",
			"distributedLockFencedTransactionProcessor", "distributedLockedMethodMeters",
			"distributedLockHandlerExceptionResolver", "distributedLockWebExceptionHandler");

	private static final FenceSettings FENCES = new FenceSettings("distributed_lock_fence", "own",
			Duration.ofSeconds(1), Duration.ofSeconds(30));

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcLockAutoConfiguration.class, DataRedisAutoConfiguration.class,
				RedisLockAutoConfiguration.class, LockFencingAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, LockMetricsAutoConfiguration.class,
				LockWebAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withPropertyValues("spring.application.name=shop", "spring.datasource.generate-unique-name=true",
				"spring.data.redis.port=1", "distributed-lock.fencing.enabled=true");

	static Stream<Arguments> replacements() {
		return Stream.of(own(LockSettings.class, "local", (beans) -> LockSettings.defaults()),
				own(SelectedLockProvider.class, "local",
						(beans) -> new SelectedLockProvider("distributedLockLocalProvider",
								beans.getBean(LocalLockProvider.class), "by a rule")),
				own(LockOperations.class, "local", (beans) -> new RecordingLockOperations()),
				own(LocalLockProvider.class, "local", (beans) -> new LocalLockProvider()),
				own(NoLockProvider.class, "none", (beans) -> new NoLockProvider()),
				own(JdbcLockProvider.class, "jdbc",
						(beans) -> new JdbcLockProvider(
								LockDataSource.of(TestDatabases.withTable(TestDatabases.h2()), 2),
								JdbcLockSettings.defaults("own"), beans.getBean(LockTimer.class))),
				own(JdbcRowLockProvider.class, "jdbc",
						(beans) -> new JdbcRowLockProvider(
								LockDataSource.of(TestDatabases.withTable(TestDatabases.h2()), 2),
								LockDataSource.connect("jdbc:h2:mem:own", "sa", "", null, 2, Duration.ofSeconds(1)),
								Duration.ofSeconds(1), JdbcLockSettings.defaults("own"),
								beans.getBean(LockTimer.class))),
				own(JdbcLockSchemaInitializer.class, "local",
						(beans) -> new JdbcLockSchemaInitializer(TestDatabases.h2(),
								new JdbcLockProperties("own_lock", JdbcStrategy.LEASE, new Pool(Pool.Type.OWN, 2, 2),
										Duration.ofHours(1), DatabaseInitializationMode.ALWAYS, false))),
				own(RedisLockProvider.class, "redis",
						(beans) -> new RedisLockProvider(beans.getBean(RedisConnectionFactory.class),
								RedisLockSettings.defaults("own"))),
				own(LockAttributeSource.class, "local", (beans) -> mock(LockAttributeSource.class)),
				own(EnclosingTransaction.class, "local",
						(beans) -> new FencedEnclosingTransaction(EnclosingTransaction.NONE,
								beans.getBean(FencedTransactions.class))),
				own(FenceSettings.class, "local", (beans) -> FENCES),
				own(FencedTransactions.class, "local",
						(beans) -> new FencedTransactions(FENCES,
								new FenceSweeper(FENCES, beans.getBean(LockTimer.class)))),
				own(FenceSchemaInitializer.class, "local",
						(beans) -> new FenceSchemaInitializer(TestDatabases.h2(),
								new FenceProperties(true, Duration.ofSeconds(1), "own_fence",
										DatabaseInitializationMode.ALWAYS))),
				own(MeterLockObserver.class, "local",
						(beans) -> new MeterLockObserver(beans.getBean(MeterRegistry.class), "own")));
	}

	private static <T> Arguments own(Class<T> type, String provider,
			Function<ConfigurableListableBeanFactory, T> creation) {
		return Arguments.of(type, provider, creation);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("replacements")
	<T> void beanOfTheApplicationReplacesOurs(Class<T> type, String provider,
			Function<ConfigurableListableBeanFactory, T> creation) {
		this.runner.withPropertyValues("distributed-lock.provider=" + provider)
			.withInitializer((context) -> ((GenericApplicationContext) context).registerBean("own", type,
					() -> creation.apply(context.getBeanFactory())))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBeanNamesForType(type)).containsExactly("own");
			});
	}

	@Test
	void beanOfTheApplicationReplacesOneOfItsOwnName() {
		LockSettings own = LockSettings.defaults();
		this.runner.withPropertyValues("distributed-lock.provider=local")
			.withBean("distributedLockSettings", LockSettings.class, () -> own)
			.run((context) -> assertThat(context).getBean(LockSettings.class).isSameAs(own));
	}

	@Test
	void beanOfAContextAboveReplacesOurs() {
		LockSettings own = LockSettings.defaults().withLease(Duration.ofSeconds(77));
		new ApplicationContextRunner().withBean("own", LockSettings.class, () -> own)
			.run((parent) -> this.runner.withParent(parent)
				.withPropertyValues("distributed-lock.provider=local")
				.run((context) -> assertThat(context.getBean(LockEngines.class).settings()).isSameAs(own)));
	}

	@Test
	void everyBeanButInfrastructureBacksOffForAPublicTypeOrItsName() {
		assertThat(new ClassFileImporter().withImportOption(new DoNotIncludeTests())
			.importPackagesOf(DistributedLockAutoConfiguration.class)
			.stream()
			.flatMap((type) -> type.getMethods().stream())
			.filter((method) -> method.isAnnotatedWith(Bean.class))).hasSizeGreaterThan(20)
			.allSatisfy((method) -> assertThat(backsOff(method)).as(method.getFullName())
				.isNotEqualTo(INFRASTRUCTURE.contains(method.getName())));
	}

	/** Beans of these types make those of Spring Boot back off. */
	@Test
	void noBeanIsAnExecutorOrAScheduler() {
		assertThat(new ClassFileImporter().withImportOption(new DoNotIncludeTests())
			.importPackagesOf(DistributedLockAutoConfiguration.class)
			.stream()
			.flatMap((type) -> type.getMethods().stream())
			.filter((method) -> method.isAnnotatedWith(Bean.class))
			.map((method) -> method.getRawReturnType().reflect())).hasSizeGreaterThan(20)
			.noneMatch((type) -> Executor.class.isAssignableFrom(type) || TaskScheduler.class.isAssignableFrom(type));
	}

	private static boolean backsOff(JavaMethod method) {
		ConditionalOnMissingBean condition = method.tryGetAnnotationOfType(ConditionalOnMissingBean.class).orElse(null);
		return condition != null && ((condition.name().length > 0) ? condition.name()[0].equals(method.getName())
				: Modifier.isPublic(method.getRawReturnType().reflect().getModifiers()));
	}

}
