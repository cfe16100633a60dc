package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.Set;

import org.springframework.aop.Advisor;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/**
 * Reactive method security outside the lock of a method that returns a publisher. Its
 * interceptors proceed with one and the same call for each subscription, and only the
 * first time passes the interceptors further in: later subscriptions would run without
 * the lock. It compares names, because an application without security has none of those
 * classes.
 */
final class SubscribedSecurity {

	private static final Set<String> INTERCEPTORS = Set.of(
			"org.springframework.security.authorization.method.AuthorizationManagerBeforeReactiveMethodInterceptor",
			"org.springframework.security.authorization.method.PostFilterAuthorizationReactiveMethodInterceptor",
			"org.springframework.security.access.prepost.PrePostAdviceReactiveMethodInterceptor");

	private SubscribedSecurity() {
	}

	static boolean is(Advisor advisor) {
		return INTERCEPTORS.contains(advisor.getAdvice().getClass().getName());
	}

	/** Returns whether the lock of the method is taken anew for each subscription. */
	static boolean concerns(Method method) {
		return switch (ResultKind.of(method.getReturnType())) {
			case MONO, FLUX -> true;
			case VALUE, STAGE -> false;
		};
	}

	static LockConfigurationException outside(Method method, Class<?> targetClass, String beanName) {
		return new LockConfigurationException(LockError.SECURITY_OUTSIDE_LOCK,
				"Reactive method security is outside the lock of the method "
						+ MethodNames.describe(method, ClassUtils.getUserClass(targetClass)) + " of the bean '"
						+ beanName + "', so that its second subscription, such as a retry, would run without the lock",
				"Move the lock to a method of another bean that this one calls, or put all locks outside security with"
						+ " distributed-lock.aop.order=0");
	}

}
