package io.distributedlock.autoconfigure;

import java.util.List;
import java.util.Objects;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

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
@Conditional(LockEngineConfiguration.OnEngineCondition.class)
@Import(LockEngineRegistrar.class)
class LockEngineConfiguration {

	private static final Log logger = LogFactory.getLog(LockEngineConfiguration.class);

	private static final boolean JDBC = ClassUtils.isPresent(
			"org.springframework.jdbc.datasource.init.DatabasePopulator",
			LockEngineConfiguration.class.getClassLoader());

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
	NoLockProvider distributedLockNoneProvider() {
		logger.warn("Locking is off (distributed-lock.provider=none): methods run without their locks");
		return new NoLockProvider();
	}

	/** Checks what is clear before any bean is created. */
	@Bean
	static BeanFactoryPostProcessor distributedLockStoresCheck(Environment environment) {
		return (beanFactory) -> {
			SelectedLockProvider.requireOneStore(beanFactory, NamedProvider.of(environment));
			if (JDBC) {
				OnRowLockCondition.requireProvider(beanFactory, environment);
			}
		};
	}

	@Bean
	@ConditionalOnMissingBean
	SelectedLockProvider distributedLockSelectedProvider(ObjectProvider<LockProvider> candidates,
			ConfigurableListableBeanFactory beanFactory, DistributedLockProperties properties) {
		return SelectedLockProvider.select(candidates, beanFactory, new NamedProvider(properties.provider()));
	}

	/** Creates engines, and the beans that they need, when something needs them. */
	@Bean(destroyMethod = "close")
	@Lazy(false)
	static LockEngines distributedLockEngines(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<SelectedLockProvider> selected, ObjectProvider<LockSettings> settings,
			ObjectProvider<LockObserver> observers, ObjectProvider<LockListener> listeners,
			ObjectProvider<EnclosingTransaction> transaction, ApplicationEventPublisher publisher) {
		return new LockEngines(beanFactory, selected,
				new LockEngineParts(beanFactory, settings, observers, listeners, transaction, publisher));
	}

	@Bean
	@Lazy(false)
	static LockStart distributedLockStart(ConfigurableListableBeanFactory beanFactory,
			LockEngines distributedLockEngines) {
		return new LockStart(beanFactory, distributedLockEngines);
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

	/**
	 * Condition that locks need an engine: neither the application nor a context above it
	 * has {@link LockOperations}, or there is a store and one of them is primary, as a
	 * decorator of the engine is.
	 */
	static final class OnEngineCondition extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionMessage.Builder message = ConditionMessage.forCondition("Lock engine");
			ConfigurableListableBeanFactory beanFactory = Objects.requireNonNull(context.getBeanFactory());
			List<String> operations = BeanTypes.names(beanFactory, LockOperations.class);
			if (LockBeans.replaceEngine(operations, beanFactory)) {
				return ConditionOutcome
					.noMatch(message.because("the application, or a context above it, defines LockOperations"));
			}
			if (!operations.isEmpty() && BeanTypes.names(beanFactory, LockProvider.class).isEmpty()
					&& NamedProvider.of(context.getEnvironment()).name() == null) {
				return ConditionOutcome.noMatch(message
					.because("the application defines primary LockOperations, and there is no store for others"));
			}
			return ConditionOutcome.match(message
				.because("the application defines no LockOperations, or only primary ones that decorate others"));
		}

	}

}
