package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;

/** The names by which key expressions reach the arguments of one method. */
final class KeyVariables {

	private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

	private static final Set<String> BUILT_IN = Set.of("root", "this");

	private final Map<String, Integer> indexes = new HashMap<>();

	private boolean named;

	KeyVariables(Method method, Class<?> targetClass) {
		for (int i = 0; i < method.getParameterCount(); i++) {
			this.indexes.put("p" + i, i);
			this.indexes.put("a" + i, i);
		}
		addNames(method);
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(targetClass)) {
			for (Method candidate : type.getMethods()) {
				if (candidate.getName().equals(method.getName())
						&& ClassUtils.getMostSpecificMethod(candidate, targetClass).equals(method)) {
					addNames(candidate);
				}
			}
		}
	}

	private void addNames(Method method) {
		@Nullable String @Nullable [] names = DISCOVERER.getParameterNames(method);
		this.named |= (names != null);
		for (int i = 0; names != null && i < names.length; i++) {
			if (names[i] != null) {
				this.indexes.putIfAbsent(names[i], i);
			}
		}
	}

	Map<String, Integer> indexes() {
		return Map.copyOf(this.indexes);
	}

	/** Whether the compiler kept the names of the parameters. */
	boolean named() {
		return this.named;
	}

	Set<String> unknownIn(SpelNode node) {
		Set<String> unknown = new LinkedHashSet<>();
		collectUnknown(node, unknown);
		return unknown;
	}

	private void collectUnknown(SpelNode node, Set<String> unknown) {
		if (node instanceof VariableReference || node instanceof FunctionReference) {
			String name = node.toStringAST().substring(1).replaceFirst("\\(.*", "");
			if (node instanceof FunctionReference || (!this.indexes.containsKey(name) && !BUILT_IN.contains(name))) {
				unknown.add("#" + name);
			}
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			collectUnknown(node.getChild(i), unknown);
		}
	}

}
