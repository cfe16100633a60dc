package io.distributedlock.annotation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Methods that an annotation on a type applies to: the public ones that callers call.
 */
final class TypeLevelMethods {

	private TypeLevelMethods() {
	}

	static boolean includes(Method method, Class<?> targetClass) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !method.isSynthetic() && !ReflectionUtils.isObjectMethod(method) && !isOfFramework(method)
				&& !isCallback(method, targetClass);
	}

	/** Recognizes methods such as {@code getApplicationContext()} of Spring's classes. */
	private static boolean isOfFramework(Method method) {
		return Modifier.isFinal(method.getModifiers())
				&& method.getDeclaringClass().getName().startsWith("org.springframework.");
	}

	private static boolean isCallback(Method method, Class<?> targetClass) {
		return SmartInitializingSingleton.class.isAssignableFrom(targetClass)
				&& ClassUtils.hasMethod(SmartInitializingSingleton.class, method);
	}

}
