package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.autoconfigure.DistributedLockProperties.Transaction.Release;
import io.distributedlock.engine.EnclosingTransaction;
import io.distributedlock.transaction.LockCommitGuardProcessor;
import io.distributedlock.transaction.SpringTransaction;

/**
 * Auto-configuration of locks in transactions: those that are acquired in a transaction
 * are kept until it has completed, and every transaction manager gets the
 * {@link io.distributedlock.transaction.LockCommitGuard}. Each context of a hierarchy
 * guards its own transaction managers.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration
@ConditionalOnClass(ConfigurableTransactionManager.class)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class LockTransactionAutoConfiguration {

	/** Refuses a fence that nothing has set up, also for locks of the application. */
	@Bean
	@Lazy(false)
	@Conditional(OnFenceCondition.class)
	@ConditionalOnMissingBean
	@SuppressWarnings("DoNotCallSuggester") // Spring calls it
	EnclosingTransaction distributedLockUnfencedTransaction() {
		throw new LockConfigurationException(LockError.FENCE_UNSUPPORTED,
				"distributed-lock.fencing.enabled is true, but the application has no spring-jdbc and"
						+ " spring-boot-jdbc, so that there are no transactions that can be fenced",
				"Add spring-boot-starter-jdbc, or remove the property");
	}

	@Bean
	@ConditionalOnMissingBean
	EnclosingTransaction distributedLockEnclosingTransaction(DistributedLockProperties properties) {
		return (properties.transaction().release() == Release.AFTER_COMPLETION) ? new SpringTransaction()
				: EnclosingTransaction.NONE;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@Conditional(OnCommitGuard.class)
	static LockCommitGuardProcessor distributedLockCommitGuardProcessor(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<DistributedLockProperties> properties) {
		return new LockCommitGuardProcessor(beanFactory, () -> properties.getObject().transaction().commitMargin());
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ChildTransactionsWarning distributedLockChildTransactionsWarning(
			ConfigurableListableBeanFactory beanFactory) {
		return new ChildTransactionsWarning(beanFactory);
	}

	/** Condition that the guard is on. Spring Boot's own takes 'on' and 'yes' for off. */
	static final class OnCommitGuard extends SpringBootCondition {

		private static final String PROPERTY = "distributed-lock.transaction.commit-guard";

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			boolean on = OnFenceCondition.isOn(PROPERTY, true, context.getEnvironment());
			return new ConditionOutcome(on,
					ConditionMessage.forCondition("Commit guard").because(PROPERTY + " is " + on));
		}

	}

}
