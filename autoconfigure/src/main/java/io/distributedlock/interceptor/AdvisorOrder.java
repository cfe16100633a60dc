package io.distributedlock.interceptor;

import org.springframework.aop.Advisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Check that transactions run inside locks. It compares names, because an application
 * without transactions has none of those classes.
 */
final class AdvisorOrder {

	private static final String TRANSACTION_ADVISOR = "org.springframework.transaction.config.internalTransactionAdvisor";

	private static final String TRANSACTION_INTERCEPTOR = "org.springframework.transaction.interceptor.TransactionInterceptor";

	private AdvisorOrder() {
	}

	static void check(ConfigurableListableBeanFactory beanFactory) {
		if (beanFactory.getSingleton(TRANSACTION_ADVISOR) instanceof Ordered transaction) {
			beanFactory.getBeanProvider(LockAdvisor.class)
				.ifAvailable((advisor) -> check(advisor.getOrder(), transaction.getOrder()));
		}
	}

	static void check(Advisor[] advisors) {
		int transaction = Integer.MAX_VALUE;
		boolean transactional = false;
		for (Advisor advisor : advisors) {
			if (advisor instanceof LockAdvisor && transactional) {
				check(((Ordered) advisor).getOrder(), transaction);
			}
			if (advisor.getAdvice().getClass().getName().equals(TRANSACTION_INTERCEPTOR)) {
				transactional = true;
				transaction = (advisor instanceof Ordered ordered) ? ordered.getOrder() : Integer.MAX_VALUE;
			}
		}
	}

	private static void check(int lock, int transaction) {
		if (transaction <= lock) {
			throw new LockConfigurationException(LockError.ADVISOR_ORDER,
					"The order of the transaction's advisor (" + transaction + ") is not greater than the lock's ("
							+ lock + "), so that locks would be released before transactions commit",
					"Set distributed-lock.aop.order to a value below " + transaction
							+ ", or raise the order of @EnableTransactionManagement");
		}
	}

}
