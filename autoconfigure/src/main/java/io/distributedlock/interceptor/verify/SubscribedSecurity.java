package io.distributedlock.interceptor.verify;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Advisor;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.security.access.prepost.PostFilter;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authorization.method.AuthorizationAdvisor;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeReactiveMethodInterceptor;
import org.springframework.security.authorization.method.PostFilterAuthorizationReactiveMethodInterceptor;
import org.springframework.security.config.annotation.method.configuration.EnableReactiveMethodSecurity;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.ResultKind;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Reactive method security outside the lock of a method that returns a publisher. Its
 * interceptors for {@code @PreAuthorize} and {@code @PostFilter} proceed with one and the
 * same call for each subscription, and only the first time passes the interceptors
 * further in: later subscriptions would run without the lock. Blocking method security
 * proceeds once. What {@link EnableReactiveMethodSecurity} configures has no public type,
 * and is known by that annotation; interceptors that an application defines are known by
 * theirs.
 */
final class SubscribedSecurity {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.security.authorization.method.AuthorizationAdvisor",
			SubscribedSecurity.class.getClassLoader());

	private static final boolean CONFIGURABLE = ClassUtils.isPresent(
			"org.springframework.security.config.annotation.method.configuration.EnableReactiveMethodSecurity",
			SubscribedSecurity.class.getClassLoader());

	/** The interceptor of former versions, which is in a module of its own. */
	private static final String FORMER = "org.springframework.security.access.prepost.PrePostAdviceReactiveMethodInterceptor";

	private SubscribedSecurity() {
	}

	/** Returns whether an advisor is one of method security. */
	static boolean is(Advisor advisor) {
		Advice advice = advisor.getAdvice();
		return (PRESENT && advice instanceof AuthorizationAdvisor) || advice.getClass().getName().equals(FORMER);
	}

	/**
	 * Returns whether method security proceeds for each subscription, if it matches the
	 * method at all.
	 */
	static boolean concerns(Advisor advisor, Method method, Class<?> targetClass, LockedMethodRegistry methods) {
		return ResultKind.of(method.getReturnType()).isReactive() && (isReactive(advisor.getAdvice())
				|| (CONFIGURABLE && (isAnnotated(method) || isAnnotated(ClassUtils.getUserClass(targetClass)))
						&& methods.hasBeanWith(EnableReactiveMethodSecurity.class)));
	}

	private static boolean isReactive(Advice advice) {
		return advice.getClass().getName().equals(FORMER)
				|| advice instanceof AuthorizationManagerBeforeReactiveMethodInterceptor
				|| advice instanceof PostFilterAuthorizationReactiveMethodInterceptor;
	}

	private static boolean isAnnotated(AnnotatedElement element) {
		MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
		return annotations.isPresent(PreAuthorize.class) || annotations.isPresent(PostFilter.class);
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
