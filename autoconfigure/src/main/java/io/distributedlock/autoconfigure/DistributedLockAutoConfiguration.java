package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.distributedlock.LockOperations;
import io.distributedlock.provider.LockProvider;

/**
 * Auto-configuration for {@link LockOperations} and annotated methods over the
 * {@link LockProvider} that was chosen, and those that are named beside it. Never falls
 * back to another store in silence.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@EnableConfigurationProperties(DistributedLockProperties.class)
@Import({ LockTimerConfiguration.class, LockProxyConfiguration.class, LockEngineConfiguration.class })
public final class DistributedLockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DurationUnits distributedLockDurationUnits(Environment environment) {
		return new DurationUnits(environment);
	}

}
