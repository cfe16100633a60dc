package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.distributedlock.LockListener;
import io.distributedlock.LockOperations;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.support.CallbackThreads;
import io.distributedlock.support.EnclosingTransaction;
import io.distributedlock.support.LockSettings;
import io.distributedlock.support.LockTemplate;

/**
 * Auto-configuration for {@link LockOperations} and annotated methods over the
 * {@link LockProvider} that was chosen, and those that are named beside it. Never falls
 * back to another store in silence.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@EnableConfigurationProperties(DistributedLockProperties.class)
@Import({ LockTimerConfiguration.class, LockProxyConfiguration.class })
public final class DistributedLockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DurationUnits distributedLockDurationUnits(Environment environment) {
		return new DurationUnits(environment);
	}

	/** The engines, unless the application brings its own. */
	@Configuration(proxyBeanMethods = false)
	@Conditional(OnLockEngineCondition.class)
	@Import({ StorelessProviderConfiguration.class, LockEngineRegistrar.class })
	static class EngineConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockSettings distributedLockSettings(DistributedLockProperties properties) {
			return properties.toSettings();
		}

		@Bean
		@ConditionalOnMissingBean
		CallbackThreads distributedLockCallbackThreads(LockTimer timer) {
			return new CallbackThreads(timer);
		}

		@Bean
		static SeveralStoresCheck distributedLockSeveralStoresCheck(Environment environment) {
			return new SeveralStoresCheck(environment);
		}

		/** Also for a provider of the application, which leaves out ours. */
		@Bean
		@ConditionalOnClass(name = "org.springframework.jdbc.datasource.init.DatabasePopulator")
		static JdbcStrategyCheck distributedLockJdbcStrategyCheck(Environment environment) {
			return new JdbcStrategyCheck(environment);
		}

		@Bean
		@Lazy
		@ConditionalOnMissingBean
		SelectedLockProvider distributedLockSelectedProvider(ObjectProvider<LockProvider> candidates,
				ConfigurableListableBeanFactory beanFactory, DistributedLockProperties properties) {
			return SelectedLockProvider.select(candidates, LockProviderBeans.all(beanFactory),
					NamedProviders.of(properties.provider(), properties.additionalProviders()));
		}

		@Bean(destroyMethod = "close")
		LockEngines distributedLockEngines(ConfigurableListableBeanFactory beanFactory,
				ObjectProvider<SelectedLockProvider> selected, LockEngineParts parts) {
			return new LockEngines(beanFactory, selected, parts);
		}

		@Bean
		LockEngineParts distributedLockEngineParts(LockSettings settings, LockTimer timer, CallbackThreads callbacks,
				ObjectProvider<LockObserver> observers, ObjectProvider<LockListener> listeners,
				ObjectProvider<EnclosingTransaction> transaction, ApplicationEventPublisher publisher) {
			return new LockEngineParts(settings, timer, callbacks, observers, listeners, transaction, publisher);
		}

		@Bean(destroyMethod = "")
		LockTemplate distributedLockTemplate(LockEngines engines) {
			return engines.primary();
		}

		@Bean
		@ConditionalOnMissingBean(name = "distributedLockLifecycle")
		LockLifecycle distributedLockLifecycle(LockEngines engines, DistributedLockProperties properties,
				Environment environment) {
			Duration grace = properties.shutdown().gracePeriod();
			return new LockLifecycle(engines, (grace != null) ? grace : environment
				.getProperty("spring.lifecycle.timeout-per-shutdown-phase", Duration.class, Duration.ofSeconds(30)));
		}

		@Bean
		@ConditionalOnMissingBean(name = "distributedLockStartReport")
		LockStartReport distributedLockStartReport(LockEngines engines, ObjectProvider<LockStoreLocation> locations,
				LockSettings settings) {
			return new LockStartReport(engines, locations.orderedStream().toList(), settings);
		}

		@Bean
		@ConditionalOnMissingBean(name = "distributedLockStoreCheck")
		LockStoreCheck distributedLockStoreCheck(LockEngines engines, ObjectProvider<LockStoreLocation> locations,
				DistributedLockProperties properties) {
			return new LockStoreCheck(engines, locations.orderedStream().toList(), properties.callTimeout(),
					properties.failFast());
		}

	}

}
