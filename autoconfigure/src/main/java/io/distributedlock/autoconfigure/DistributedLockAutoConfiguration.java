package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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
 * Auto-configuration for {@link LockOperations} and annotated methods over the one
 * {@link LockProvider} that was chosen. Never falls back to another store in silence.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@EnableConfigurationProperties(DistributedLockProperties.class)
@Import({ LockTimerConfiguration.class, LockProxyConfiguration.class, StorelessProviderConfiguration.class })
public final class DistributedLockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DurationUnits distributedLockDurationUnits(Environment environment) {
		return new DurationUnits(environment);
	}

	/** The engine, unless the application brings its own. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(LockOperations.class)
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
		SelectedLockProvider distributedLockSelectedProvider(ObjectProvider<LockProvider> candidates,
				DistributedLockProperties properties) {
			return SelectedLockProvider.select(candidates, properties.provider());
		}

		@Bean(destroyMethod = "close")
		LockTemplate distributedLockTemplate(SelectedLockProvider selected, LockSettings settings, LockTimer timer,
				CallbackThreads callbacks, ObjectProvider<LockObserver> observers,
				ObjectProvider<LockListener> listeners, ObjectProvider<EnclosingTransaction> transaction) {
			return new LockTemplate(selected.provider(), settings, timer, callbacks, observers.orderedStream().toList(),
					listeners.orderedStream().toList(), transaction.getIfAvailable(() -> EnclosingTransaction.NONE));
		}

		@Bean
		LockApplicationEvents distributedLockApplicationEvents(ApplicationEventPublisher publisher) {
			return new LockApplicationEvents(publisher);
		}

		@Bean
		LockLifecycle distributedLockLifecycle(LockTemplate template, DistributedLockProperties properties,
				Environment environment) {
			Duration grace = properties.shutdown().gracePeriod();
			return new LockLifecycle(template, (grace != null) ? grace : environment
				.getProperty("spring.lifecycle.timeout-per-shutdown-phase", Duration.class, Duration.ofSeconds(30)));
		}

		@Bean
		LockStartReport distributedLockStartReport(SelectedLockProvider selected,
				ObjectProvider<LockStoreLocation> locations, LockSettings settings) {
			return new LockStartReport(selected, locations.orderedStream().toList(), settings);
		}

		@Bean
		LockStoreCheck distributedLockStoreCheck(SelectedLockProvider selected, DistributedLockProperties properties) {
			return new LockStoreCheck(selected.provider(), properties.callTimeout(), properties.failFast());
		}

	}

}
