package io.distributedlock.interceptor.verify;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.FallbackReaction;
import io.distributedlock.interceptor.LockAdvisor;
import io.distributedlock.interceptor.LockOperationsLookup;
import io.distributedlock.interceptor.LockedMethod;
import io.distributedlock.interceptor.LockedMethodChecks;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Check that the locked methods of one bean are advised. A bean may have several proxies,
 * one around the other: each locked method of any of them, and of the target, needs the
 * lock's advisor on its own layer or further out.
 */
final class LockedBeanCheck {

	private final Object bean;

	private final String beanName;

	private final LockedMethodRegistry methods;

	private final @Nullable LockOperationsLookup operations;

	/** The targets of those proxies, so far, that have the lock's advisor. */
	private final List<Class<?>> advised = new ArrayList<>();

	/**
	 * The methods without a fallback that they need, of the innermost layer that has
	 * them.
	 */
	private final Map<String, FallbackReaction> missing = new LinkedHashMap<>();

	/** Whether the advice of asynchronous methods comes behind the lock's. */
	private boolean asyncInside;

	/**
	 * Creates a check of one bean.
	 * @param operations the lookup of the providers that its methods name, or
	 * {@code null} while they may not be created yet
	 */
	LockedBeanCheck(Object bean, String beanName, LockedMethodRegistry methods,
			@Nullable LockOperationsLookup operations) {
		this.bean = bean;
		this.beanName = beanName;
		this.methods = methods;
		this.operations = operations;
	}

	/**
	 * Checks the bean.
	 * @return the classes of its layers that have locked methods
	 */
	Set<Class<?>> check() {
		Set<Class<?>> locked = new LinkedHashSet<>();
		Object layer = this.bean;
		Class<?> type = layer.getClass();
		while (type != null) {
			Object target = null;
			Class<?> targetClass = null;
			if (layer instanceof Advised proxy) {
				target = AopProxyUtils.getSingletonTarget(proxy);
				targetClass = (target != null) ? target.getClass() : proxy.getTargetClass();
				addAdvised(proxy, targetClass);
			}
			checkMethods(type);
			if (this.methods.isLocked(type)) {
				locked.add(type);
			}
			layer = target;
			type = targetClass;
		}
		if (!this.missing.isEmpty()) {
			throw this.missing.values().iterator().next().missing();
		}
		return locked;
	}

	private void addAdvised(Advised proxy, @Nullable Class<?> targetClass) {
		Class<?> target = (targetClass != null) ? targetClass : proxy.getClass();
		List<Advisor> outside = new ArrayList<>();
		for (Advisor advisor : proxy.getAdvisors()) {
			if (advisor instanceof LockAdvisor lock) {
				this.advised.add(target);
				AdvisorOrder order = new AdvisorOrder(lock, target, this.beanName, this.methods);
				outside.forEach((outer) -> order.check(outer, target));
				outside.forEach((outer) -> order.check(outer, proxy.getClass()));
			}
			outside.add(advisor);
			this.asyncInside |= !this.advised.isEmpty() && advisor.getAdvice() instanceof AsyncExecutionInterceptor;
		}
	}

	private void checkMethods(Class<?> type) {
		for (Method method : this.methods.methods(type)) {
			boolean reachable = !Proxy.isProxyClass(this.bean.getClass()) || isReachable(method, type);
			boolean locked = this.advised.stream().anyMatch((target) -> isLocked(method, type, target));
			if (reachable && !locked) {
				throw notAdvised(method, type);
			}
			if (!reachable && this.methods.isDeclaredOnMethod(method, type)) {
				throw notReachable(method, type);
			}
			String signature = method.getName() + Arrays.toString(method.getParameterTypes());
			LockedMethod read = this.methods.find(method, type);
			if (read != null && this.operations != null) {
				read.requireProvider(this.operations);
			}
			if (read != null && read.onBusy() instanceof FallbackReaction fallback && fallback.method() == null) {
				this.missing.put(signature, fallback);
			}
			else {
				this.missing.remove(signature);
			}
			if (this.asyncInside && LockedMethodChecks.isAsync(method, ClassUtils.getUserClass(type))) {
				throw LockedMethodChecks.asyncInsideLock(method, ClassUtils.getUserClass(type));
			}
		}
	}

	/**
	 * Returns whether an advisor around the target matches the method of the given type.
	 */
	private boolean isLocked(Method method, Class<?> type, Class<?> target) {
		return this.methods.find(method, target) != null || interfaceMethods(method, type, target)
			.anyMatch((candidate) -> this.methods.find(candidate, target) != null);
	}

	/** Returns whether callers reach the method through the interfaces of a JDK proxy. */
	private boolean isReachable(Method method, Class<?> type) {
		return interfaceMethods(method, type, this.bean.getClass()).findAny().isPresent();
	}

	private static Stream<Method> interfaceMethods(Method method, Class<?> type, Class<?> proxy) {
		return Arrays.stream(ClassUtils.getAllInterfacesForClass(proxy))
			.flatMap((candidate) -> Arrays.stream(candidate.getMethods()))
			.filter((candidate) -> candidate.getName().equals(method.getName()) && (candidate.equals(method)
					|| AopUtils.getMostSpecificMethod(candidate, ClassUtils.getUserClass(type)).equals(method)));
	}

	private LockConfigurationException notAdvised(Method method, Class<?> type) {
		return new LockConfigurationException(LockError.NOT_ADVISED,
				"The bean '" + this.beanName + "' has the locked method "
						+ MethodNames.describe(method, ClassUtils.getUserClass(type))
						+ ", but the lock's advisor does not apply to it, so that it would run without its lock",
				"Do not use the bean from a BeanPostProcessor or BeanFactoryPostProcessor (such beans are created"
						+ " too early), let the container create and proxy it, and annotate the interface that"
						+ " callers use if it has a proxy of its own. An object that is registered by hand has no"
						+ " proxy: define it as a @Bean");
	}

	private static LockConfigurationException notReachable(Method method, Class<?> type) {
		return LockedMethodChecks.notProxyable(method, type,
				"is in no interface, but its bean is proxied by interface only",
				"Add it to an interface, or let Spring proxy classes (spring.aop.proxy-target-class=true)");
	}

}
