package io.distributedlock.interceptor;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.DecoratingProxy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.distributedlock.LockFailureHandler;
import io.distributedlock.interceptor.expression.MethodExpressions;

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

	private final FailureReactions reactions;

	private final LockedCallObserver observer;

	private final ConcurrentMap<Class<?>, Map<Method, LockedMethod>> classes = new ConcurrentHashMap<>();

	/**
	 * Creates a registry whose skipped calls are only logged.
	 * @param source the source of lock attributes
	 * @param beanFactory the bean factory for beans in key expressions, and for the
	 * {@link LockFailureHandler}
	 */
	public LockedMethodRegistry(LockAttributeSource source, BeanFactory beanFactory) {
		this(source, beanFactory, new LockedCallObserver() {
		});
	}

	/**
	 * Creates a registry.
	 * @param source the source of lock attributes
	 * @param beanFactory the bean factory for beans in key expressions, and for the
	 * {@link LockFailureHandler}
	 * @param observer the observer of calls that are skipped or run without their lock
	 */
	public LockedMethodRegistry(LockAttributeSource source, BeanFactory beanFactory, LockedCallObserver observer) {
		this.source = source;
		this.beanFactory = beanFactory;
		this.reactions = new FailureReactions(source, beanFactory, observer);
		this.observer = observer;
	}

	/**
	 * Returns whether the class has locked methods.
	 * @param targetClass the class, or a CGLIB subclass of it
	 * @return whether any method is locked
	 * @throws io.distributedlock.LockConfigurationException if one of them cannot work
	 */
	public boolean isLocked(Class<?> targetClass) {
		return !of(targetClass).isEmpty();
	}

	/**
	 * Finds the locked method that a call reaches. Where the target is a proxy itself,
	 * the innermost class or proxy that has the method locked decides.
	 * @param method the method that is called
	 * @param target the target of the call, possibly a proxy, or {@code null}
	 * @return the locked method, or {@code null} if the method is not locked on any layer
	 */
	@Nullable LockedMethod findCalled(Method method, @Nullable Object target) {
		if (target == null) {
			return find(method, method.getDeclaringClass());
		}
		LockedMethod inner = (target instanceof Advised proxy) ? findBehind(method, proxy) : null;
		return (inner != null) ? inner : find(method, target.getClass());
	}

	private @Nullable LockedMethod findBehind(Method method, Advised proxy) {
		Object target = AopProxyUtils.getSingletonTarget(proxy);
		if (target != null) {
			return findCalled(method, target);
		}
		Class<?> targetClass = proxy.getTargetClass();
		return (targetClass != null) ? find(method, targetClass) : null;
	}

	/**
	 * Finds the locked method of one class. A method of an interface that the class lacks
	 * is looked up in the interface: interceptors of a proxy may implement it.
	 * @param method the method, possibly of an interface
	 * @param targetClass the class, which may be that of a proxy
	 * @return the locked method, or {@code null} if the method is not locked
	 */
	public @Nullable LockedMethod find(Method method, Class<?> targetClass) {
		LockedMethod locked = findOf(method, targetClass);
		Class<?> declaring = method.getDeclaringClass();
		if (locked == null && declaring.isInterface() && !declaring.isAssignableFrom(targetClass)) {
			locked = findOf(method, declaring);
		}
		return locked;
	}

	private @Nullable LockedMethod findOf(Method method, Class<?> targetClass) {
		Map<Method, LockedMethod> methods = of(targetClass);
		LockedMethod locked = methods.get(method);
		if (locked == null && !methods.isEmpty()) {
			Class<?> userClass = ClassUtils.getUserClass(targetClass);
			locked = methods.get(AopUtils.getMostSpecificMethod(bridgedBy(method, userClass), userClass));
			if (locked != null && method.getDeclaringClass().isAssignableFrom(userClass)) {
				methods.put(method, locked);
			}
		}
		return locked;
	}

	/** Returns whether no locked method was read so far. */
	public boolean isEmpty() {
		return this.classes.values().stream().allMatch(Map::isEmpty);
	}

	/**
	 * Passes on each locked method that was read so far; one that several classes share
	 * more than once.
	 */
	public void forEach(Consumer<LockedMethod> consumer) {
		this.classes.values().forEach((methods) -> methods.values().forEach(consumer));
	}

	/** Returns the locked methods without bridges to them, which calls may have added. */
	public Set<Method> methods(Class<?> targetClass) {
		return of(targetClass).keySet()
			.stream()
			.filter((method) -> !method.isBridge())
			.collect(Collectors.toUnmodifiableSet());
	}

	/** Returns the names of the beans that keys and conditions of a class use. */
	public Set<String> beans(Class<?> targetClass) {
		Set<String> beans = new TreeSet<>();
		of(targetClass).values().forEach((method) -> beans.addAll(method.expressions().beans()));
		return beans;
	}

	/** Looks up the application's failure handler, and refuses several ones. */
	public @Nullable LockFailureHandler failureHandler() {
		return this.reactions.handler();
	}

	/** Returns the bean factory of the locked methods. */
	BeanFactory beanFactory() {
		return this.beanFactory;
	}

	/** Returns whether a bean of the context, or of its parents, has an annotation. */
	public boolean hasBeanWith(Class<? extends Annotation> type) {
		return this.beanFactory instanceof ListableBeanFactory listable
				&& BeanFactoryUtils.beanNamesForAnnotationIncludingAncestors(listable, type).length > 0;
	}

	/** Returns the observer of calls. */
	LockedCallObserver observer() {
		return this.observer;
	}

	public boolean isDeclaredOnMethod(Method method, Class<?> targetClass) {
		return this.source.isDeclaredOnMethod(method, targetClass);
	}

	private Map<Method, LockedMethod> of(Class<?> targetClass) {
		Map<Method, LockedMethod> methods = this.classes.get(targetClass);
		if (methods == null) {
			methods = read(targetClass);
			this.classes.put(targetClass, methods);
		}
		return methods;
	}

	private Map<Method, LockedMethod> read(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		boolean candidate = this.source.isCandidateClass(userClass);
		if (!candidate && userClass == type) {
			return Map.of();
		}
		Map<Method, LockedMethod> methods = new ConcurrentHashMap<>();
		Set<Class<?>> interfaces = ClassUtils.getAllInterfacesForClassAsSet(userClass);
		if (candidate) {
			if (!Proxy.isProxyClass(userClass)) {
				read(userClass, userClass, methods);
			}
			interfaces.forEach((implemented) -> read(implemented, userClass, methods));
		}
		if (userClass != type) {
			ClassUtils.getAllInterfacesForClassAsSet(type)
				.stream()
				.filter((added) -> !interfaces.contains(added) && this.source.isCandidateClass(added))
				.forEach((added) -> read(added, added, methods));
		}
		return methods.isEmpty() ? Map.of() : methods;
	}

	private void read(Class<?> type, Class<?> targetClass, Map<Method, LockedMethod> methods) {
		if (!isOfProxies(type)) {
			ReflectionUtils.doWithMethods(type, (method) -> read(method, targetClass, methods),
					ReflectionUtils.USER_DECLARED_METHODS);
		}
	}

	/**
	 * Recognizes the interfaces that Spring adds to every proxy and implements itself.
	 */
	private static boolean isOfProxies(Class<?> type) {
		return type.isInterface()
				&& (type == DecoratingProxy.class || type.getPackageName().startsWith("org.springframework.aop")
						|| type.getPackageName().equals("org.springframework.cglib.proxy"));
	}

	private void read(Method declared, Class<?> targetClass, Map<Method, LockedMethod> methods) {
		Method method = bridgedBy(declared, targetClass);
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		if (methods.containsKey(specific)) {
			return;
		}
		boolean onMethod = this.source.isDeclaredOnMethod(method, targetClass);
		if (!onMethod && ContainerCallbacks.describe(specific, targetClass) != null) {
			return;
		}
		LockAttribute attribute = this.source.getLockAttribute(method, targetClass);
		if (attribute != null) {
			LockedMethodChecks.check(specific, targetClass, attribute, onMethod);
			MethodExpressions expressions = new MethodExpressions(specific, targetClass, this.beanFactory);
			methods.put(specific, new LockedMethod(attribute, specific, targetClass, expressions, this.reactions));
		}
	}

	/**
	 * Finds the method that a bridge calls. A JDK proxy has a method of its own for each
	 * bridge, such as one for {@code save(Object)} beside {@code save(Order)}.
	 */
	private static Method bridgedBy(Method method, Class<?> targetClass) {
		if (method.isBridge() || !Proxy.isProxyClass(targetClass)) {
			return BridgeMethodResolver.findBridgedMethod(method);
		}
		for (Class<?> type : targetClass.getInterfaces()) {
			for (Method candidate : type.getMethods()) {
				if (candidate.isBridge() && candidate.getName().equals(method.getName())
						&& Arrays.equals(candidate.getParameterTypes(), method.getParameterTypes())) {
					return BridgeMethodResolver.findBridgedMethod(candidate);
				}
			}
		}
		return method;
	}

}
