package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Search for the fallback of a locked method: a method with its name whose parameters are
 * those of the locked method, optionally with one more for the exception, and whose
 * result fits.
 */
final class FallbackSearch {

	private final String name;

	private final Method method;

	private final Class<?> targetClass;

	private final ResolvableType result;

	private final List<ResolvableType> parameters;

	FallbackSearch(String name, Method method, Class<?> targetClass) {
		this.name = name;
		this.method = method;
		this.targetClass = targetClass;
		this.result = ResolvableType.forMethodReturnType(method, targetClass);
		this.parameters = parametersOf(method);
	}

	/**
	 * Finds the fallback.
	 * @return the method, or {@code null} if an interface or a JDK proxy has none: the
	 * class of the target may have it
	 * @throws LockConfigurationException if there is none, or several ones
	 */
	@Nullable Method find() {
		List<Method> fitting = candidates().stream().filter(this::fits).toList();
		if (fitting.size() > 1) {
			throw refused("fits by " + describe(fitting), "Rename all but one of them");
		}
		if (fitting.isEmpty() && !isStandIn(this.targetClass)) {
			throw missing();
		}
		return fitting.isEmpty() ? null : fitting.get(0);
	}

	private static boolean isStandIn(Class<?> type) {
		return type.isInterface() || Proxy.isProxyClass(type);
	}

	/** Creates the failure of a method without a fallback. */
	LockConfigurationException missing() {
		Collection<Method> candidates = candidates();
		String fact = candidates.isEmpty()
				? "is not the name of another method of " + MethodNames.owner(this.method, this.targetClass).getName()
				: "does not fit: " + describe(candidates) + (candidates.size() == 1 ? " has" : " have")
						+ " another result or other parameters";
		String arguments = this.parameters.stream().map(FallbackSearch::simpleName).collect(Collectors.joining(", "));
		String start = simpleName(this.result) + " " + this.name + "(" + arguments;
		return refused(fact, "Add the method '" + start + ")' or '" + start + (arguments.isEmpty() ? "" : ", ")
				+ "LockNotAcquiredException)' to the class, or correct the name");
	}

	/** Creates the failure of a fallback that has a lock of its own. */
	LockConfigurationException locked(Method fallback) {
		return refused(
				"is locked itself (" + MethodNames.describe(fallback, this.targetClass)
						+ "), but a fallback is called on the bare object and so without its lock",
				"Remove its annotation; if its class is annotated, make it protected or private");
	}

	/** Creates the failure of a fallback beside the policy to skip the call. */
	LockConfigurationException skipped() {
		return refused("would never be called, because onBusy = SKIP skips the call",
				"Remove onBusy = SKIP, or the attribute fallback");
	}

	private LockConfigurationException refused(String fact, String action) {
		return new LockConfigurationException(LockError.FALLBACK_METHOD, "The fallback '" + this.name
				+ "' of the locked method " + MethodNames.describe(this.method, this.targetClass) + " " + fact, action);
	}

	/** Returns all methods with the name but the locked one, without overridden ones. */
	private Collection<Method> candidates() {
		Map<List<Class<?>>, Method> found = new LinkedHashMap<>();
		declared().filter((candidate) -> candidate.getName().equals(this.name) && !candidate.isSynthetic())
			.forEach((candidate) -> found.putIfAbsent(rawTypes(parametersOf(candidate)), candidate));
		List<Class<?>> own = rawTypes(this.parameters);
		found.entrySet().removeIf((entry) -> this.name.equals(this.method.getName()) && entry.getKey().equals(own));
		return found.values();
	}

	private Stream<Method> declared() {
		List<Method> methods = new ArrayList<>();
		for (Class<?> type = this.targetClass; type != null && !Proxy.isProxyClass(type)
				&& type != Object.class; type = type.getSuperclass()) {
			methods.addAll(List.of(type.getDeclaredMethods()));
		}
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(this.targetClass)) {
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
				&& isAssignable(this.result, ResolvableType.forMethodReturnType(candidate, this.targetClass));
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
			.mapToObj((i) -> ResolvableType.forMethodParameter(candidate, i, this.targetClass))
			.toList();
	}

	private static List<Class<?>> rawTypes(List<ResolvableType> types) {
		return types.stream().<Class<?>>map(FallbackSearch::rawType).toList();
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
