package io.distributedlock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.provider.LockTimer;

/** The one timer of the engine and the stores, unless the application brings its own. */
@Lazy
@Configuration(proxyBeanMethods = false)
public class LockTimerConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockTimer distributedLockTimer() {
		return new LockTimer();
	}

}
