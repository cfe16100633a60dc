package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The locked methods of each class that was seen, read and checked when the class is seen
 * for the first time, so that a mistake in any of them is found then. Safe for use by
 * many threads; grows with classes, not with calls.
 *
 * @since 0.1.0
 */
public final class LockedMethodRegistry {

	private final LockAttributeSource source;

	private final BeanFactory beanFactory;

	private final ConcurrentMap<Class<?>, Map<Method, LockedMethod>> classes = new ConcurrentHashMap<>();

	/**
	 * Creates the collection over a source.
	 * @param source tells which methods are locked
	 * @param beanFactory where key expressions find beans
	 */
	public LockedMethodRegistry(LockAttributeSource source, BeanFactory beanFactory) {
		this.source = source;
		this.beanFactory = beanFactory;
	}

	/**
	 * Whether the class has locked methods.
	 * @param targetClass the class, or a CGLIB subclass of it
	 * @return whether any method is locked
	 * @throws io.distributedlock.LockConfigurationException if one of them cannot work
	 */
	public boolean isLocked(Class<?> targetClass) {
		return !of(targetClass).isEmpty();
	}

	@Nullable LockedMethod find(Method method, Class<?> targetClass) {
		Map<Method, LockedMethod> methods = of(targetClass);
		LockedMethod locked = methods.get(method);
		if (locked == null && !methods.isEmpty()) {
			locked = methods.get(AopUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(targetClass)));
			if (locked != null) {
				methods.put(method, locked);
			}
		}
		return locked;
	}

	Set<Method> methods(Class<?> targetClass) {
		return of(targetClass).keySet();
	}

	boolean isDeclaredOnMethod(Method method, Class<?> targetClass) {
		return this.source.isDeclaredOnMethod(method, targetClass);
	}

	private Map<Method, LockedMethod> of(Class<?> targetClass) {
		Map<Method, LockedMethod> methods = this.classes.get(targetClass);
		if (methods == null) {
			methods = read(ClassUtils.getUserClass(targetClass));
			this.classes.put(targetClass, methods);
		}
		return methods;
	}

	private Map<Method, LockedMethod> read(Class<?> targetClass) {
		if (!this.source.isCandidateClass(targetClass)) {
			return Map.of();
		}
		Map<Method, LockedMethod> methods = new ConcurrentHashMap<>();
		for (Class<?> type : types(targetClass)) {
			ReflectionUtils.doWithMethods(type, (method) -> read(method, targetClass, methods),
					ReflectionUtils.USER_DECLARED_METHODS);
		}
		return methods.isEmpty() ? Map.of() : methods;
	}

	private static Set<Class<?>> types(Class<?> targetClass) {
		Set<Class<?>> types = new LinkedHashSet<>();
		if (!Proxy.isProxyClass(targetClass)) {
			types.add(targetClass);
		}
		types.addAll(ClassUtils.getAllInterfacesForClassAsSet(targetClass));
		return types;
	}

	private void read(Method method, Class<?> targetClass, Map<Method, LockedMethod> methods) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		if (methods.containsKey(specific)) {
			return;
		}
		LockAttribute attribute = this.source.getLockAttribute(method, targetClass);
		if (attribute != null) {
			boolean declared = this.source.isDeclaredOnMethod(method, targetClass);
			LockedMethodChecks.check(specific, targetClass, attribute, declared);
			KeyExpressions keys = attribute.keys().isEmpty() ? null
					: KeyExpressions.parse(attribute, specific, targetClass, this.beanFactory);
			methods.put(specific, new LockedMethod(attribute, specific, keys));
		}
	}

}
