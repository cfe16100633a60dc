package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Methods that the container calls on the bare object, past every proxy, recognized by
 * their annotations and interfaces.
 */
final class ContainerCallbacks {

	/**
	 * These apply to overrides, too: the container calls the method that is overridden.
	 */
	private static final Set<String> LIFECYCLE = Set.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	private static final Set<String> INJECTION = Set.of("org.springframework.context.annotation.Bean",
			"org.springframework.beans.factory.annotation.Autowired",
			"org.springframework.beans.factory.annotation.Value", "jakarta.inject.Inject",
			"jakarta.annotation.Resource", "jakarta.persistence.PersistenceContext",
			"jakarta.persistence.PersistenceUnit");

	private ContainerCallbacks() {
	}

	/**
	 * Describes what makes the container call the method.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return a name such as {@code @PostConstruct}, or {@code null} if the container
	 * does not call the method
	 */
	static @Nullable String describe(Method method, Class<?> targetClass) {
		String annotation = findAnnotation(method, INJECTION);
		for (Class<?> type = method.getDeclaringClass(); type != null && type != Object.class
				&& annotation == null; type = type.getSuperclass()) {
			Method overridden = ReflectionUtils.findMethod(type, method.getName(), method.getParameterTypes());
			if (overridden != null && (overridden.equals(method) || !Modifier.isPrivate(overridden.getModifiers()))) {
				annotation = findAnnotation(overridden, LIFECYCLE);
			}
		}
		return (annotation != null) ? annotation : findInterface(method, targetClass);
	}

	private static @Nullable String findAnnotation(Method method, Set<String> names) {
		return MergedAnnotations.from(method)
			.stream()
			.map(MergedAnnotation::getType)
			.map(Class::getName)
			.filter(names::contains)
			.map((name) -> "@" + name.substring(name.lastIndexOf('.') + 1))
			.findFirst()
			.orElse(null);
	}

	private static @Nullable String findInterface(Method method, Class<?> targetClass) {
		return ClassUtils.getAllInterfacesForClassAsSet(targetClass)
			.stream()
			.filter((type) -> Aware.class.isAssignableFrom(type) || type == InitializingBean.class
					|| type == DisposableBean.class)
			.filter((type) -> ClassUtils.hasMethod(type, method))
			.map(Class::getSimpleName)
			.findFirst()
			.orElse(null);
	}

}
