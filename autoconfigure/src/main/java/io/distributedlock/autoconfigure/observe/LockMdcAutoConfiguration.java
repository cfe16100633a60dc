package io.distributedlock.autoconfigure.observe;

import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.slf4j.MdcLockObserver;

/**
 * Auto-configuration for the entries of the logging context that name the lock of a body,
 * where the application logs with SLF4J.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnClass(MDC.class)
@ConditionalOnBean(name = LockEngines.BEAN_NAME)
public final class LockMdcAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MdcLockObserver distributedLockMdcObserver() {
		return new MdcLockObserver();
	}

}
