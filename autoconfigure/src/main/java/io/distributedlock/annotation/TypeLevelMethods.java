package io.distributedlock.annotation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;

import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Which methods an annotation on a type stands for: the public ones that callers call.
 */
final class TypeLevelMethods {

	private static final Set<String> CALLBACKS = Set.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy", "org.springframework.context.annotation.Bean");

	private TypeLevelMethods() {
	}

	static boolean includes(Method method, Class<?> targetClass) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !method.isSynthetic() && !isOfObject(method) && !isCallback(method, targetClass);
	}

	private static boolean isOfObject(Method method) {
		return ReflectionUtils.isObjectMethod(method);
	}

	private static boolean isCallback(Method method, Class<?> targetClass) {
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(targetClass)) {
			if (isContainers(type) && ClassUtils.hasMethod(type, method)) {
				return true;
			}
		}
		return MergedAnnotations.from(method)
			.stream()
			.anyMatch((annotation) -> CALLBACKS.contains(annotation.getType().getName()));
	}

	private static boolean isContainers(Class<?> type) {
		return Aware.class.isAssignableFrom(type) || type == InitializingBean.class || type == DisposableBean.class
				|| type == SmartInitializingSingleton.class;
	}

}
