package io.distributedlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.local.NoLockProvider;

/**
 * Providers that need no store, each only if {@code distributed-lock.provider} or
 * {@code distributed-lock.additional-providers} names it.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
class StorelessProviderConfiguration {

	private static final Log logger = LogFactory.getLog(StorelessProviderConfiguration.class);

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

}
