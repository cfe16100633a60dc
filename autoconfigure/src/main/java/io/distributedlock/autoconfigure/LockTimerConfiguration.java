package io.distributedlock.autoconfigure;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.provider.LockTimer;

/** The one timer of the engine and the stores. */
@Lazy
@Configuration(proxyBeanMethods = false)
public class LockTimerConfiguration {

	@Bean
	LockTimer distributedLockTimer() {
		return new LockTimer();
	}

}
