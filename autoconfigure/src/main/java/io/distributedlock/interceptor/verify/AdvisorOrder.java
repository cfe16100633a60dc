package io.distributedlock.interceptor.verify;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

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
 */
final class AdvisorOrder {

	private static final String TRANSACTION_INTERCEPTOR = "org.springframework.transaction.interceptor.TransactionInterceptor";

	private AdvisorOrder() {
	}

	/**
	 * Checks the advisors of a proxy, the outermost of which comes first.
	 * @param type the class of the proxy or its target, whose locked methods are checked
	 */
	static void check(Advisor[] advisors, Class<?> type, Class<?> targetClass, String beanName,
			LockedMethodRegistry registry) {
		Set<Method> methods = registry.methods(type);
		List<Advisor> outside = new ArrayList<>();
		for (Advisor advisor : advisors) {
			if (advisor instanceof LockAdvisor lock) {
				for (Advisor outer : outside) {
					for (Method method : methods) {
						check(outer, lock, method, targetClass, beanName, registry);
					}
				}
			}
			outside.add(advisor);
		}
	}

	private static void check(Advisor outer, LockAdvisor lock, Method method, Class<?> targetClass, String beanName,
			LockedMethodRegistry registry) {
		if (outer.getAdvice().getClass().getName().equals(TRANSACTION_INTERCEPTOR)) {
			int order = (outer instanceof Ordered ordered) ? ordered.getOrder() : Ordered.LOWEST_PRECEDENCE;
			if (order <= lock.getOrder() && matches(outer, method, targetClass)) {
				throw outside(method, targetClass, beanName, order, lock.getOrder());
			}
		}
		if (SubscribedSecurity.is(outer) && matches(outer, method, targetClass)
				&& SubscribedSecurity.concerns(outer, method, targetClass, registry)) {
			throw SubscribedSecurity.outside(method, targetClass, beanName);
		}
	}

	private static boolean matches(Advisor advisor, Method method, Class<?> targetClass) {
		return !(advisor instanceof PointcutAdvisor pointcutAdvisor)
				|| (pointcutAdvisor.getPointcut().getClassFilter().matches(targetClass)
						&& pointcutAdvisor.getPointcut().getMethodMatcher().matches(method, targetClass));
	}

	private static LockConfigurationException outside(Method method, Class<?> targetClass, String beanName,
			int transaction, int lock) {
		return new LockConfigurationException(LockError.ADVISOR_ORDER,
				"The order of the transaction's advisor (" + transaction + ") is not greater than the lock's (" + lock
						+ "), so that the method " + MethodNames.describe(method, ClassUtils.getUserClass(targetClass))
						+ " of the bean '" + beanName + "' would wait for its lock inside its transaction",
				"Set distributed-lock.aop.order to a value below " + transaction
						+ ", or raise the order of @EnableTransactionManagement");
	}

}
