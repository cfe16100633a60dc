package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

import io.distributedlock.LockListener;
import io.distributedlock.LockOperations;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.engine.LockTemplate;
import io.distributedlock.engine.concurrent.CallbackThreads;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;
import io.distributedlock.provider.LockObserver;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LockTimer;
import io.distributedlock.reactive.ReactiveLockTemplate;

/**
 * The engines, unless the application brings its own, and the providers that need no
 * store. Engines are created when something needs them, and with them the clients of the
 * stores: an application without locks uses no store.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@Conditional(OnLockEngineCondition.class)
@Import(LockEngineRegistrar.class)
class LockEngineConfiguration {

	private static final Log logger = LogFactory.getLog(LockEngineConfiguration.class);

	@Bean
	@ConditionalOnMissingBean
	LockSettings distributedLockSettings(DistributedLockProperties properties) {
		return properties.toSettings();
	}

	@Bean
	CallbackThreads distributedLockCallbackThreads(LockTimer timer) {
		return new CallbackThreads(timer);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnLockStore(value = "local", onlyIfNamed = true)
	LocalLockProvider distributedLockLocalProvider() {
		return new LocalLockProvider();
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnLockStore(value = "none", onlyIfNamed = true)
	NoLockProvider distributedLockNoneProvider(DistributedLockProperties properties) {
		logger.warn("none".equalsIgnoreCase(properties.provider())
				? "Locking is off (distributed-lock.provider=none): methods run without their locks"
				: "Locking is off for methods with provider = \"none\" (distributed-lock.additional-providers):"
						+ " they run without their locks");
		return new NoLockProvider();
	}

	@Bean
	static StoresCheck distributedLockStoresCheck(Environment environment) {
		return new StoresCheck(environment);
	}

	@Bean
	@ConditionalOnMissingBean
	SelectedLockProvider distributedLockSelectedProvider(ObjectProvider<LockProvider> candidates,
			ConfigurableListableBeanFactory beanFactory, DistributedLockProperties properties) {
		return SelectedLockProvider.select(candidates, LockProviderBeans.all(beanFactory),
				NamedProviders.of(properties.provider(), properties.additionalProviders()));
	}

	@Bean(destroyMethod = "close")
	LockEngines distributedLockEngines(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<SelectedLockProvider> selected, LockSettings settings, LockTimer timer,
			CallbackThreads callbacks, ObjectProvider<LockObserver> observers, ObjectProvider<LockListener> listeners,
			ObjectProvider<EnclosingTransaction> transaction, ApplicationEventPublisher publisher) {
		return new LockEngines(beanFactory, selected,
				new LockEngineParts(settings, timer, callbacks, observers, listeners, transaction, publisher));
	}

	@Bean(destroyMethod = "")
	LockTemplate distributedLockTemplate(LockEngines engines) {
		return engines.primary();
	}

	/** The locks of the application for Reactor's publishers. */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "reactor.core.publisher.Mono")
	static class ReactorConfiguration {

		@Bean
		@ConditionalOnMissingBean
		ReactiveLockTemplate distributedLockReactiveTemplate(LockOperations locks) {
			return new ReactiveLockTemplate(locks);
		}

	}

	@Bean
	@Lazy(false)
	static LockStart distributedLockStart(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		return new LockStart(beanFactory, environment);
	}

	@Bean
	@Lazy(false)
	static LockLifecycle distributedLockLifecycle(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<DistributedLockProperties> properties, Environment environment) {
		return new LockLifecycle(beanFactory, () -> {
			Duration grace = properties.getObject().shutdown().gracePeriod();
			return (grace != null) ? grace : environment.getProperty("spring.lifecycle.timeout-per-shutdown-phase",
					Duration.class, Duration.ofSeconds(30));
		});
	}

}
