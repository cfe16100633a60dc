package io.distributedlock.autoconfigure.observe;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.micrometer.DefaultLockAcquireObservationConvention;
import io.distributedlock.micrometer.DefaultLockHoldObservationConvention;
import io.distributedlock.micrometer.LockAcquireObservationConvention;
import io.distributedlock.micrometer.LockHoldObservationConvention;
import io.distributedlock.micrometer.ObservationLockObserver;

/**
 * Auto-configuration for the observations of locks, where the application has a registry
 * of observations. One that has a registry of meters only gets their timers all the same.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = DistributedLockAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration" })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(name = LockEngines.BEAN_NAME)
@Conditional(LockObservationAutoConfiguration.OnRegistry.class)
public final class LockObservationAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ObservationLockObserver distributedLockObservationObserver(ObjectProvider<ObservationRegistry> registry,
			BeanFactory beanFactory, LockEngines engines, ObjectProvider<LockAcquireObservationConvention> acquire,
			ObjectProvider<LockHoldObservationConvention> hold) {
		return new ObservationLockObserver(registry.getIfAvailable(() -> Meters.registry(beanFactory)),
				engines.primaryName(), acquire.getIfAvailable(DefaultLockAcquireObservationConvention::new),
				hold.getIfAvailable(DefaultLockHoldObservationConvention::new));
	}

	/** Use of meters, in a class of its own because their library may be missing. */
	private static final class Meters {

		/** Returns a registry of our own, for an application with meters only. */
		static ObservationRegistry registry(BeanFactory beanFactory) {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig()
				.observationHandler(new DefaultMeterObservationHandler(beanFactory.getBean(MeterRegistry.class)));
			return registry;
		}

	}

	/**
	 * Condition that the application has a registry of observations, or one of meters.
	 */
	static final class OnRegistry extends AnyNestedCondition {

		OnRegistry() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnBean(ObservationRegistry.class)
		static final class Observations {

		}

		@ConditionalOnBean(type = "io.micrometer.core.instrument.MeterRegistry")
		static final class Meters {

		}

	}

}
