package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.distributedlock.transaction.LockCommitGuardProcessor;

/**
 * Auto-configuration of the {@link io.distributedlock.transaction.LockCommitGuard} on
 * every transaction manager.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnClass(ConfigurableTransactionManager.class)
@ConditionalOnProperty(name = "distributed-lock.transaction.commit-guard", matchIfMissing = true)
public final class LockTransactionAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockCommitGuardProcessor distributedLockCommitGuardProcessor(ConfigurableListableBeanFactory beanFactory) {
		return new LockCommitGuardProcessor(beanFactory);
	}

}
