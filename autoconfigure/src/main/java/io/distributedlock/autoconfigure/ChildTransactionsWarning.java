package io.distributedlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.TransactionManager;

import io.distributedlock.interceptor.verify.LockedBeanVerifier;
import io.distributedlock.transaction.LockCommitGuardProcessor;

/**
 * Warning of transaction managers of child contexts without the auto-configuration, which
 * nothing guards or fences. The nearest context above that has it judges a child. Creates
 * no bean.
 *
 * @param beanFactory the factory of the context that has the auto-configuration
 */
record ChildTransactionsWarning(
		ConfigurableListableBeanFactory beanFactory) implements ApplicationListener<ContextRefreshedEvent> {

	private static final Log logger = LogFactory.getLog(ChildTransactionsWarning.class);

	/** Name of a bean whose class is not loaded, since it needs JDBC. */
	private static final String FENCE = "distributedLockFencedTransactionProcessor";

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		boolean fenced = this.beanFactory.containsLocalBean(FENCE);
		boolean guarded = this.beanFactory.getBeanNamesForType(LockCommitGuardProcessor.class, true, false).length > 0;
		if ((fenced || guarded) && event.getApplicationContext() instanceof ConfigurableApplicationContext child
				&& child.isActive() && LockedBeanVerifier.isNearest(this.beanFactory, child.getBeanFactory(),
						ChildTransactionsWarning.class)) {
			for (String beanName : child.getBeanFactory().getBeanNamesForType(TransactionManager.class, true, false)) {
				logger.warn("Transactions of the transaction manager '" + beanName + "' of the child context '"
						+ child.getDisplayName() + "' commit under a lost lock too, because that context has no"
						+ " auto-configuration of locks. Add @ImportAutoConfiguration("
						+ (fenced ? "{ LockFencingAutoConfiguration.class, LockTransactionAutoConfiguration.class }"
								: "LockTransactionAutoConfiguration.class")
						+ ") to it");
			}
		}
	}

}
