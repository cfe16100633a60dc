package io.distributedlock.autoconfigure.observe;

import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.micrometer.MeterLockObserver;
import io.distributedlock.micrometer.ObservationLockObserver;

/**
 * Auto-configuration for the counters of locks, where the application has a registry of
 * meters. Registers those of each locked method at start, and their timers too.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = LockObservationAutoConfiguration.class)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(value = MeterRegistry.class, name = LockEngines.BEAN_NAME)
public final class LockMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MeterLockObserver distributedLockMeterObserver(MeterRegistry registry, LockEngines engines) {
		return new MeterLockObserver(registry, engines.primaryName());
	}

	/** Needs the others only for locked methods. */
	@Bean
	@Lazy(false)
	LockedMethodMeters distributedLockedMethodMeters(LockedMethodRegistry methods, ObjectProvider<LockEngines> engines,
			ObjectProvider<MeterLockObserver> counters, ObjectProvider<ObservationLockObserver> timers,
			ObjectProvider<MeterRegistry> registry) {
		return new LockedMethodMeters(methods, engines, counters, timers, registry);
	}

}
