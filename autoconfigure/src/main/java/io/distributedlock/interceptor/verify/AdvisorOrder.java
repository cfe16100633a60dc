package io.distributedlock.interceptor.verify;

import java.lang.reflect.Method;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Check that the transactions of locked methods run inside their locks, and reactive
 * method security too. A locked method without either may have any order. Transactions
 * are found by the name of their interceptor, which an application without them lacks.
 *
 * @param lock the lock's advisor
 * @param targetClass the class of the target of the proxy
 * @param beanName the name of the bean
 * @param methods the locked methods
 */
record AdvisorOrder(LockAdvisor lock, Class<?> targetClass, String beanName, LockedMethodRegistry methods) {

	private static final String TRANSACTION_INTERCEPTOR = "org.springframework.transaction.interceptor.TransactionInterceptor";

	/**
	 * Checks an advisor that is outside the lock's.
	 * @param type the class of the proxy or its target, whose locked methods are checked
	 */
	void check(Advisor outer, Class<?> type) {
		for (Method method : this.methods.methods(type)) {
			if (outer.getAdvice().getClass().getName().equals(TRANSACTION_INTERCEPTOR)) {
				int order = (outer instanceof Ordered ordered) ? ordered.getOrder() : Ordered.LOWEST_PRECEDENCE;
				if (order <= this.lock.getOrder() && matches(outer, method)) {
					throw outside(method, order);
				}
			}
			if (SubscribedSecurity.is(outer) && matches(outer, method)
					&& SubscribedSecurity.concerns(outer, method, this.targetClass, this.methods)) {
				throw SubscribedSecurity.outside(method, this.targetClass, this.beanName);
			}
		}
	}

	private boolean matches(Advisor advisor, Method method) {
		return !(advisor instanceof PointcutAdvisor pointcutAdvisor)
				|| (pointcutAdvisor.getPointcut().getClassFilter().matches(this.targetClass)
						&& pointcutAdvisor.getPointcut().getMethodMatcher().matches(method, this.targetClass));
	}

	private LockConfigurationException outside(Method method, int transaction) {
		return new LockConfigurationException(LockError.ADVISOR_ORDER,
				"The order of the transaction's advisor (" + transaction + ") is not greater than the lock's ("
						+ this.lock.getOrder() + "), so that the method "
						+ MethodNames.describe(method, ClassUtils.getUserClass(this.targetClass)) + " of the bean '"
						+ this.beanName + "' would wait for its lock inside its transaction",
				"Set distributed-lock.aop.order to a value below " + transaction
						+ ", or raise the order of @EnableTransactionManagement");
	}

}
