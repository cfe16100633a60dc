package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/** Checks that the locked methods of one bean are locked. */
final class LockedBeanCheck {

	private LockedBeanCheck() {
	}

	static void check(Object bean, String beanName, LockedMethodRegistry methods) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
		if (!methods.isLocked(targetClass)) {
			return;
		}
		if (!isAdvised(bean)) {
			if (MockitoMocks.isMock(bean)) {
				return;
			}
			throw notAdvised(beanName, targetClass, methods);
		}
		if (Proxy.isProxyClass(bean.getClass())) {
			checkReachable(bean, targetClass, methods);
		}
	}

	private static boolean isAdvised(@Nullable Object bean) {
		Object current = bean;
		while (current instanceof Advised advised) {
			if (Arrays.stream(advised.getAdvisors()).anyMatch(LockAdvisor.class::isInstance)) {
				AdvisorOrder.check(advised.getAdvisors());
				return true;
			}
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return false;
	}

	private static LockConfigurationException notAdvised(String beanName, Class<?> targetClass,
			LockedMethodRegistry methods) {
		Method method = methods.methods(targetClass).iterator().next();
		return new LockConfigurationException(LockError.NOT_ADVISED,
				"The bean '" + beanName + "' has the locked method " + LockedMethodChecks.describe(method, targetClass)
						+ ", but was created without the lock's advisor, so that it would run without its lock",
				"Do not use it from a BeanPostProcessor or BeanFactoryPostProcessor (such beans are created too early),"
						+ " and let the container create and proxy it");
	}

	/** A method that no interface of a JDK proxy has cannot be called through it. */
	private static void checkReachable(Object bean, Class<?> targetClass, LockedMethodRegistry methods) {
		for (Method method : methods.methods(targetClass)) {
			if (methods.isDeclaredOnMethod(method, targetClass) && !isReachable(method, targetClass, bean)) {
				throw new LockConfigurationException(LockError.NOT_PROXYABLE,
						"The locked method " + LockedMethodChecks.describe(method, targetClass)
								+ " is in no interface, but its bean is proxied by interface only",
						"Add it to an interface, or let Spring proxy classes (spring.aop.proxy-target-class=true)");
			}
		}
	}

	private static boolean isReachable(Method method, Class<?> targetClass, Object bean) {
		for (Class<?> type : ClassUtils.getAllInterfacesForClass(bean.getClass())) {
			for (Method candidate : type.getMethods()) {
				if (candidate.getName().equals(method.getName()) && (candidate.equals(method)
						|| AopUtils.getMostSpecificMethod(candidate, targetClass).equals(method))) {
					return true;
				}
			}
		}
		return false;
	}

}
