package io.distributedlock.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.distributedlock.micrometer.MicrometerLockObserver;

/**
 * Auto-configuration for the meters of locks, where the application has a registry.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration" })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ MeterRegistry.class, LockEngines.class })
public final class LockMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MicrometerLockObserver distributedLockMicrometerObserver(MeterRegistry registry, LockEngines engines) {
		return new MicrometerLockObserver(registry, engines.primaryName());
	}

}
