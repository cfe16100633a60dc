package io.distributedlock.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Reaction that calls the fallback of a locked method: a method with the name of the
 * fallback whose parameters are those of the locked method, optionally with one more for
 * the exception, and whose result fits. It is called on the innermost object behind all
 * proxies; a method of an interface which that object lacks is called on the proxy.
 */
public final class FallbackReaction implements BusyReaction {

	private final String name;

	private final DeclaredResult result;

	private final List<ResolvableType> parameters;

	private final @Nullable Method fallback;

	/**
	 * Finds the fallback and creates its reaction.
	 * @param name the name of the fallback
	 * @param result the result of the locked method
	 * @throws LockConfigurationException if no method fits, or several do
	 */
	FallbackReaction(String name, DeclaredResult result) {
		this.name = name;
		this.result = result;
		this.parameters = parametersOf(result.method());
		List<Method> fitting = candidates().stream().filter(this::fits).toList();
		if (fitting.size() > 1) {
			throw refused("fits by " + describe(fitting), "Rename all but one of them");
		}
		if (fitting.isEmpty() && !isStandIn(result.targetClass())) {
			throw missing();
		}
		this.fallback = fitting.isEmpty() ? null : fitting.get(0);
		if (this.fallback != null) {
			ReflectionUtils.makeAccessible(this.fallback);
		}
	}

	/**
	 * Returns the fallback, or {@code null} if an interface or a JDK proxy has none:
	 * calls reach the class of the target instead, if that has one.
	 */
	public @Nullable Method method() {
		return this.fallback;
	}

	@Override
	public @Nullable Object react(MethodInvocation invocation, LockNotAcquiredException busy) throws Throwable {
		Method present = this.fallback;
		if (present == null) {
			LockConfigurationException ex = missing();
			ex.addSuppressed(busy);
			throw ex;
		}
		@Nullable Object[] args = invocation.getArguments();
		if (present.getParameterCount() > args.length) {
			args = Arrays.copyOf(args, args.length + 1);
			args[args.length - 1] = busy;
		}
		Object returned = call(present, invocation.getThis(), invocation, args);
		return this.result.requireFitting(returned,
				() -> "The fallback " + MethodNames.describe(present, present.getDeclaringClass()));
	}

	private static @Nullable Object call(Method fallback, @Nullable Object target, MethodInvocation invocation,
			@Nullable Object[] args) throws Throwable {
		if (!(target instanceof Advised proxy)) {
			boolean own = fallback.getDeclaringClass().isInstance(target);
			Object receiver = (!own && invocation instanceof ProxyMethodInvocation proxied) ? proxied.getProxy()
					: target;
			try {
				return fallback.invoke(receiver, args);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}
		TargetSource source = proxy.getTargetSource();
		Object inner = source.getTarget();
		try {
			return call(fallback, inner, invocation, args);
		}
		finally {
			if (inner != null && !source.isStatic()) {
				source.releaseTarget(inner);
			}
		}
	}

	private static boolean isStandIn(Class<?> type) {
		return type.isInterface() || Proxy.isProxyClass(type);
	}

	/** Creates the failure of a method without a fallback. */
	public LockConfigurationException missing() {
		Collection<Method> candidates = candidates();
		String fact = candidates.isEmpty()
				? "is not the name of another method of "
						+ MethodNames.owner(this.result.method(), this.result.targetClass()).getName()
				: "does not fit: " + describe(candidates) + (candidates.size() == 1 ? " has" : " have")
						+ " another result or other parameters";
		String arguments = this.parameters.stream().map(FallbackReaction::simpleName).collect(Collectors.joining(", "));
		String start = simpleName(this.result.type()) + " " + this.name + "(" + arguments;
		return refused(fact, "Add the method '" + start + ")' or '" + start + (arguments.isEmpty() ? "" : ", ")
				+ "LockNotAcquiredException)' to the class, or correct the name");
	}

	/** Creates the failure of a method whose fallback cannot work. */
	LockConfigurationException refused(String fact, String action) {
		return refused(this.name, this.result, fact, action);
	}

	/** Creates the failure of a method whose fallback cannot work, whatever its name. */
	static LockConfigurationException refused(String name, DeclaredResult result, String fact, String action) {
		return new LockConfigurationException(LockError.FALLBACK_METHOD,
				"The fallback '" + name + "' of the locked method " + result.described() + " " + fact, action);
	}

	/** Returns all methods with the name but the locked one, without overridden ones. */
	private Collection<Method> candidates() {
		Map<List<Class<?>>, Method> found = new LinkedHashMap<>();
		declared().filter((candidate) -> candidate.getName().equals(this.name) && !candidate.isSynthetic())
			.forEach((candidate) -> found.putIfAbsent(rawTypes(parametersOf(candidate)), candidate));
		List<Class<?>> own = rawTypes(this.parameters);
		found.entrySet()
			.removeIf((entry) -> this.name.equals(this.result.method().getName()) && entry.getKey().equals(own));
		return found.values();
	}

	private Stream<Method> declared() {
		List<Method> methods = new ArrayList<>();
		for (Class<?> type = this.result.targetClass(); type != null && !Proxy.isProxyClass(type)
				&& type != Object.class; type = type.getSuperclass()) {
			methods.addAll(List.of(type.getDeclaredMethods()));
		}
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(this.result.targetClass())) {
			Stream.of(type.getMethods())
				.filter((candidate) -> !Modifier.isStatic(candidate.getModifiers()))
				.forEach(methods::add);
		}
		return methods.stream();
	}

	private boolean fits(Method candidate) {
		List<ResolvableType> given = parametersOf(candidate);
		int count = this.parameters.size();
		boolean same = given.size() == count || (given.size() == count + 1 && isException(given.get(count)));
		return same
				&& IntStream.range(0, count)
					.allMatch((i) -> rawType(given.get(i)) == rawType(this.parameters.get(i))
							&& isAssignable(given.get(i), this.parameters.get(i)))
				&& isAssignable(this.result.type(),
						ResolvableType.forMethodReturnType(candidate, this.result.targetClass()));
	}

	private static boolean isException(ResolvableType type) {
		return Throwable.class.isAssignableFrom(rawType(type))
				&& rawType(type).isAssignableFrom(LockNotAcquiredException.class);
	}

	private static boolean isAssignable(ResolvableType to, ResolvableType from) {
		boolean generic = to.hasGenerics() && from.hasGenerics() && !to.hasUnresolvableGenerics()
				&& !from.hasUnresolvableGenerics();
		return ClassUtils.isAssignable(rawType(to), rawType(from)) && (!generic || to.isAssignableFrom(from));
	}

	private List<ResolvableType> parametersOf(Method candidate) {
		return IntStream.range(0, candidate.getParameterCount())
			.mapToObj((i) -> ResolvableType.forMethodParameter(candidate, i, this.result.targetClass()))
			.toList();
	}

	private static List<Class<?>> rawTypes(List<ResolvableType> types) {
		return types.stream().<Class<?>>map(FallbackReaction::rawType).toList();
	}

	private static Class<?> rawType(ResolvableType type) {
		return type.resolve(Object.class);
	}

	private static String simpleName(ResolvableType type) {
		return rawType(type).getSimpleName();
	}

	private String describe(Collection<Method> methods) {
		return methods.stream()
			.map((candidate) -> candidate.getReturnType().getSimpleName() + " "
					+ MethodNames.describe(candidate, candidate.getDeclaringClass()))
			.collect(Collectors.joining(" and "));
	}

}
