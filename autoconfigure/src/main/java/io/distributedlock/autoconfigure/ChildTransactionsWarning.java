package io.distributedlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.TransactionManager;

import io.distributedlock.transaction.LockCommitGuardProcessor;

/**
 * Warning of transaction managers of child contexts without the auto-configuration, which
 * nothing guards or fences. The nearest context above that has it judges a child. Creates
 * no bean.
 */
final class ChildTransactionsWarning implements ApplicationListener<ContextRefreshedEvent> {

	private static final Log logger = LogFactory.getLog(ChildTransactionsWarning.class);

	/** Name of a bean whose class is not loaded, since it needs JDBC. */
	private static final String FENCE = "distributedLockFencedTransactionProcessor";

	private final ConfigurableListableBeanFactory beanFactory;

	ChildTransactionsWarning(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		boolean fenced = this.beanFactory.containsLocalBean(FENCE);
		boolean guarded = has(this.beanFactory, LockCommitGuardProcessor.class);
		if ((fenced || guarded) && event.getApplicationContext() instanceof ConfigurableApplicationContext child
				&& child.isActive() && isJudged(child.getBeanFactory())) {
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

	private boolean isJudged(BeanFactory child) {
		BeanFactory context = child;
		while (context != this.beanFactory && context instanceof ConfigurableListableBeanFactory other
				&& !has(other, ChildTransactionsWarning.class)) {
			context = other.getParentBeanFactory();
		}
		return context == this.beanFactory && context != child;
	}

	private static boolean has(ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		return beanFactory.getBeanNamesForType(type, true, false).length > 0;
	}

}
