package io.distributedlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;

/**
 * Providers that need no store, each only if {@code distributed-lock.provider} names it.
 */
@Configuration(proxyBeanMethods = false)
class StorelessProviderConfiguration {

	private static final Log logger = LogFactory.getLog(StorelessProviderConfiguration.class);

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnProperty(name = "distributed-lock.provider", havingValue = "local")
	LocalLockProvider distributedLockLocalProvider() {
		return new LocalLockProvider();
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnProperty(name = "distributed-lock.provider", havingValue = "none")
	NoLockProvider distributedLockNoneProvider() {
		logger.warn("Locking is off (distributed-lock.provider=none): methods run without their locks");
		return new NoLockProvider();
	}

}
