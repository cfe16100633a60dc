package io.distributedlock.autoconfigure.observe;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.autoconfigure.LockStoreLocation;

/**
 * Auto-configuration for the health of the lock stores.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnClass({ HealthContributor.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean(name = LockEngines.BEAN_NAME)
@ConditionalOnEnabledHealthIndicator("distributedlocks")
public final class LockHealthAutoConfiguration {

	/** The name without its end is the id of the health, which is in lower case. */
	@Bean
	@ConditionalOnMissingBean(name = { "distributedlocksHealthContributor", "distributedlocksHealthIndicator" })
	HealthContributor distributedlocksHealthContributor(ConfigurableListableBeanFactory beanFactory,
			LockEngines engines, ObjectProvider<LockStoreLocation> locations) {
		return LockHealth.of(beanFactory, engines, locations);
	}

}
