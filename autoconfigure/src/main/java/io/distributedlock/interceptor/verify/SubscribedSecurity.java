package io.distributedlock.interceptor.verify;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;

import org.springframework.aop.Advisor;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
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
 * further in: later subscriptions would run without the lock. It compares names, because
 * an application without security has none of those classes.
 */
final class SubscribedSecurity {

	/** The bean that {@code @EnableReactiveMethodSecurity} registers. */
	private static final String CONFIGURATION = "_reactiveMethodSecurityConfiguration";

	/**
	 * Stands for any of Spring Security's interceptors until the first call, for those of
	 * blocking method security too, which proceed once.
	 */
	private static final String DEFERRED = "org.springframework.security.config.annotation.method.configuration"
			+ ".DeferringMethodInterceptor";

	private static final Set<String> INTERCEPTORS = Set.of(
			"org.springframework.security.authorization.method.AuthorizationManagerBeforeReactiveMethodInterceptor",
			"org.springframework.security.authorization.method.PostFilterAuthorizationReactiveMethodInterceptor",
			"org.springframework.security.access.prepost.PrePostAdviceReactiveMethodInterceptor");

	private static final List<String> ANNOTATIONS = List.of("org.springframework.security.access.prepost.PreAuthorize",
			"org.springframework.security.access.prepost.PostFilter");

	private SubscribedSecurity() {
	}

	/** Returns whether the application has reactive method security. */
	static boolean isConfigured(LockedMethodRegistry methods) {
		return methods.hasBean(CONFIGURATION);
	}

	/**
	 * Returns whether an advisor may proceed for each subscription.
	 * @param configured whether the application has reactive method security
	 */
	static boolean is(Advisor advisor, boolean configured) {
		String name = advisor.getAdvice().getClass().getName();
		return (configured && name.equals(DEFERRED)) || INTERCEPTORS.contains(name);
	}

	/**
	 * Returns whether the advisor proceeds for each subscription, if it matches the
	 * method at all.
	 */
	static boolean concerns(Advisor advisor, Method method, Class<?> targetClass) {
		return switch (ResultKind.of(method.getReturnType())) {
			case MONO, FLUX -> INTERCEPTORS.contains(advisor.getAdvice().getClass().getName()) || isAnnotated(method)
					|| isAnnotated(ClassUtils.getUserClass(targetClass));
			case VALUE, STAGE -> false;
		};
	}

	private static boolean isAnnotated(AnnotatedElement element) {
		MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
		return ANNOTATIONS.stream().anyMatch(annotations::isPresent);
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
