package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The names by which key expressions reach the arguments of one method: those of its
 * parameters in the method and in every declaration that it overrides or implements, and
 * their places. A name that means two arguments, or an argument and the call, cannot be
 * used. A declared name such as {@code p1} prevails over the place.
 */
final class KeyVariables {

	private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

	private static final Set<String> BUILT_IN = Set.of("root", "this");

	private final Map<String, Integer> indexes = new HashMap<>();

	private final Set<String> ambiguous = new HashSet<>();

	private boolean named;

	KeyVariables(Method method, Class<?> targetClass) {
		for (Method declaration : declarations(method, targetClass)) {
			addNames(declaration);
		}
		for (int i = 0; i < method.getParameterCount(); i++) {
			this.indexes.putIfAbsent("p" + i, i);
			this.indexes.putIfAbsent("a" + i, i);
		}
	}

	private static Set<Method> declarations(Method method, Class<?> targetClass) {
		Set<Method> declarations = new LinkedHashSet<>(List.of(method));
		Stream<Class<?>> interfaces = Stream.of(targetClass, method.getDeclaringClass())
			.flatMap((type) -> ClassUtils.getAllInterfacesForClassAsSet(type).stream());
		Stream
			.concat(Stream.of(ReflectionUtils.getAllDeclaredMethods(targetClass)),
					interfaces.flatMap((type) -> Stream.of(type.getMethods())))
			.filter((candidate) -> isDeclarationOf(method, candidate, targetClass))
			.forEach(declarations::add);
		return declarations;
	}

	private static boolean isDeclarationOf(Method method, Method candidate, Class<?> targetClass) {
		return candidate.getName().equals(method.getName())
				&& candidate.getParameterCount() == method.getParameterCount() && !candidate.isBridge()
				&& !Modifier.isPrivate(candidate.getModifiers())
				&& AopUtils.getMostSpecificMethod(candidate, targetClass).equals(method);
	}

	private void addNames(Method method) {
		@Nullable String @Nullable [] names = DISCOVERER.getParameterNames(method);
		this.named |= (names != null);
		for (int i = 0; names != null && i < names.length; i++) {
			if (names[i] != null) {
				addName(names[i], i);
			}
		}
	}

	private void addName(String name, int index) {
		Integer earlier = this.indexes.putIfAbsent(name, index);
		if ((earlier != null && earlier != index) || BUILT_IN.contains(name)) {
			this.ambiguous.add(name);
		}
	}

	Map<String, Integer> indexes() {
		return Map.copyOf(this.indexes);
	}

	/** Returns whether the compiler kept the names of the parameters. */
	boolean named() {
		return this.named;
	}

	/** Returns whether no declaration of the method has the name. */
	boolean isUnknown(String name) {
		return !this.indexes.containsKey(name) && !BUILT_IN.contains(name);
	}

	/** Returns whether the name means two arguments, or an argument and the call. */
	boolean isAmbiguous(String name) {
		return this.ambiguous.contains(name);
	}

}
