package io.distributedlock.autoconfigure;

import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.ResolvableType;

import io.distributedlock.annotation.DistributedLock;
import io.distributedlock.autoconfigure.fencing.LockFencingAutoConfiguration;
import io.distributedlock.autoconfigure.jdbc.JdbcLockAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockHealthAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMdcAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockMetricsAutoConfiguration;
import io.distributedlock.autoconfigure.observe.LockObservationAutoConfiguration;
import io.distributedlock.autoconfigure.redis.RedisLockAutoConfiguration;
import io.distributedlock.autoconfigure.zookeeper.ZooKeeperLockAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How often a start searches all bean definitions because of the library. Each search
 * costs as much as the application has beans. {@link BeanTypes} adds one pass through
 * them all.
 */
class StartSearchTests {

	private static final int MOST_SEARCHES = 12;

	private static final Class<?>[] APPLICATION = { AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
			MetricsAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
			ObservationAutoConfiguration.class };

	private static final Class<?>[] LIBRARY = { DistributedLockAutoConfiguration.class, JdbcLockAutoConfiguration.class,
			LockFencingAutoConfiguration.class, LockHealthAutoConfiguration.class, LockMdcAutoConfiguration.class,
			LockMetricsAutoConfiguration.class, LockObservationAutoConfiguration.class,
			LockTransactionAutoConfiguration.class, LockWebAutoConfiguration.class, RedisLockAutoConfiguration.class,
			ZooKeeperLockAutoConfiguration.class };

	@Test
	void startSearchesTheDefinitionsSeldom() {
		List<String> searches = new ArrayList<>();
		List<String> types = new ArrayList<>();
		new ApplicationContextRunner(
				() -> new AnnotationConfigApplicationContext(new RecordingBeanFactory(searches, types)))
			.withConfiguration(AutoConfigurations.of(APPLICATION))
			.withConfiguration(AutoConfigurations.of(LIBRARY))
			.withPropertyValues("spring.application.name=shop", "spring.datasource.generate-unique-name=true")
			.withBean(Orders.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(searches).as("types that are searched for by the library before the definitions are frozen")
			.hasSizeLessThanOrEqualTo(MOST_SEARCHES);
		assertThat(types).as("beans whose types the conditions ask for").hasSizeGreaterThan(20).doesNotHaveDuplicates();
	}

	static class Orders {

		@DistributedLock(key = "#id")
		public void close(String id) {
		}

	}

	/** Records the searches that are not answered from the cache of a frozen factory. */
	private static final class RecordingBeanFactory extends DefaultListableBeanFactory {

		private final List<String> searches;

		private final List<String> types;

		private RecordingBeanFactory(List<String> searches, List<String> types) {
			this.searches = searches;
			this.types = types;
		}

		@Override
		public @Nullable Class<?> getType(String name, boolean allowFactoryBeanInit) {
			if (!isConfigurationFrozen() && StackWalker.getInstance()
				.walk((frames) -> frames.skip(1)
					.limit(2)
					.anyMatch((frame) -> frame.getClassName().equals(BeanTypes.class.getName())))) {
				this.types.add(name);
			}
			return super.getType(name, allowFactoryBeanInit);
		}

		@Override
		public String[] getBeanNamesForType(ResolvableType type, boolean includeNonSingletons, boolean allowEagerInit) {
			record(type);
			return super.getBeanNamesForType(type, includeNonSingletons, allowEagerInit);
		}

		@Override
		public String[] getBeanNamesForType(Class<?> type, boolean includeNonSingletons, boolean allowEagerInit) {
			record(type);
			return super.getBeanNamesForType(type, includeNonSingletons, allowEagerInit);
		}

		private void record(Object type) {
			if (!isConfigurationFrozen() && !isInside() && isForTheLibrary(type)) {
				this.searches.add(type.toString());
			}
		}

		/** Returns whether one of the overridden methods has called the other. */
		private static boolean isInside() {
			return StackWalker.getInstance()
				.walk((frames) -> frames
					.filter((frame) -> frame.getClassName().equals(RecordingBeanFactory.class.getName())
							&& frame.getMethodName().equals("getBeanNamesForType"))
					.count()) > 1;
		}

		private static boolean isForTheLibrary(Object type) {
			return type.toString().contains("io.distributedlock") || StackWalker.getInstance()
				.walk((frames) -> frames.map(StackFrame::getClassName)
					.anyMatch((name) -> name.startsWith("io.distributedlock.")
							&& !name.startsWith(StartSearchTests.class.getName())));
		}

	}

}
