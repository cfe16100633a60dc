package io.distributedlock.autoconfigure;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.distributedlock.provider.LockTimer;

/** The timer of the engine, which stores share if they do not wait in its tasks. */
@Lazy
@Configuration(proxyBeanMethods = false)
public class LockTimerConfiguration {

	@Bean
	LockTimer distributedLockTimer() {
		return new LockTimer();
	}

}
