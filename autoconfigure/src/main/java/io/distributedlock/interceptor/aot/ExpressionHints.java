package io.distributedlock.interceptor.aot;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.distributedlock.interceptor.LockedMethod;
import io.distributedlock.interceptor.expression.MethodExpressions;

/**
 * Reflection hints for the expressions of locked methods. Each starts at the declared
 * types of the arguments, the target, the beans and the types that it names, and follows
 * the members whose names it has. What the class of a value adds to its declared type is
 * not known ahead of time.
 *
 * @param hints receives the hints
 * @param beanFactory the bean factory that knows the types of beans in expressions
 */
record ExpressionHints(ReflectionHints hints, BeanFactory beanFactory) {

	void register(LockedMethod locked, Method method, Class<?> targetClass) {
		List<SpelExpression> expressions = locked.expressions().parsed();
		if (expressions.isEmpty()) {
			return;
		}
		Walk walk = new Walk();
		Set<Class<?>> types = new LinkedHashSet<>();
		expressions.forEach((expression) -> MethodExpressions.forEachNode(expression.getAST(),
				(node) -> collect(node, walk.names, types, targetClass)));
		for (int i = 0; i < method.getParameterCount(); i++) {
			walk.follow(ResolvableType.forMethodParameter(method, i, targetClass));
		}
		types.forEach((type) -> walk.follow(ResolvableType.forClass(type)));
		if (walk.names.contains("target")) {
			walk.follow(ResolvableType.forClass(targetClass));
		}
		for (String bean : locked.expressions().beans()) {
			Class<?> type = this.beanFactory.containsBean(bean) ? this.beanFactory.getType(bean, false) : null;
			if (type != null) {
				walk.follow(ResolvableType.forClass(type));
			}
		}
	}

	/** Collects the names of members, and the types of {@code T(…)}. */
	private static void collect(SpelNode node, Set<String> names, Set<Class<?>> types, Class<?> targetClass) {
		if (node instanceof PropertyOrFieldReference property) {
			names.add(property.getName());
		}
		else if (node instanceof MethodReference method) {
			names.add(method.getName());
		}
		else if (node instanceof TypeReference) {
			Class<?> type = find(node.getChild(0).toStringAST(), targetClass);
			if (type != null) {
				types.add(type);
			}
		}
	}

	private static @Nullable Class<?> find(String name, Class<?> targetClass) {
		try {
			return new StandardTypeLocator(targetClass.getClassLoader()).findType(name);
		}
		catch (EvaluationException ex) {
			// The evaluation reports it.
			return null;
		}
	}

	/** The walk through the types that the expressions of one method may meet. */
	private final class Walk {

		private final Set<String> names = new HashSet<>();

		private final Set<Place> seen = new HashSet<>();

		void follow(ResolvableType type) {
			Class<?> raw = type.resolve();
			if (raw == null || !this.seen.add(new Place(type.getType(), raw))) {
				return;
			}
			if (raw.isArray()) {
				follow(type.getComponentType());
				return;
			}
			register(ClassUtils.resolvePrimitiveIfNecessary(raw));
			for (ResolvableType element : type.getGenerics()) {
				follow(element);
			}
			followMembers(type, raw);
		}

		private void register(Class<?> type) {
			ExpressionHints.this.hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS,
					MemberCategory.ACCESS_PUBLIC_FIELDS);
			if (type.isRecord()) {
				// The texts of its components are checked.
				ExpressionHints.this.hints.registerType(type, MemberCategory.ACCESS_DECLARED_FIELDS);
			}
		}

		private void followMembers(ResolvableType type, Class<?> raw) {
			for (Method method : raw.getMethods()) {
				if (this.names.contains(method.getName()) || this.names.contains(propertyOf(method))) {
					follow(ResolvableType.forMethodReturnType(method, type.toClass()));
				}
			}
			for (Field field : raw.getFields()) {
				if (this.names.contains(field.getName())) {
					follow(ResolvableType.forField(field, type));
				}
			}
			if (raw.isRecord()) {
				for (RecordComponent component : raw.getRecordComponents()) {
					follow(ResolvableType.forType(component.getGenericType(), type));
				}
			}
		}

		private static String propertyOf(Method method) {
			String name = method.getName();
			String property = name.startsWith("is") ? name.substring(2)
					: (name.startsWith("get") ? name.substring(3) : name);
			return StringUtils.uncapitalizeAsProperty(property);
		}

	}

	/**
	 * A declared type and what it stands for, which may be another class each time.
	 *
	 * @param type the type, possibly a variable
	 * @param resolved the class
	 */
	private record Place(Type type, Class<?> resolved) {
	}

}
