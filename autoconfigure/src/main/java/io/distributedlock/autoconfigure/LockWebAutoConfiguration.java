package io.distributedlock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.ControllerAdvice;

import io.distributedlock.web.LockExceptionHandler;

/**
 * Auto-configuration for the answers of web applications to exceptions of locks. Comes
 * last, since handlers without an order are asked in the order of their beans.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnClass(ControllerAdvice.class)
@ConditionalOnWebApplication
@ConditionalOnBooleanProperty(name = "distributed-lock.web.problem-details.enabled", matchIfMissing = true)
public final class LockWebAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockExceptionHandler distributedLockExceptionHandler() {
		return new LockExceptionHandler();
	}

}
