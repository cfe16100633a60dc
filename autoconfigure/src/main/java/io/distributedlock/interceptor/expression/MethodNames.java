package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.util.ClassUtils;

/** Names of methods for messages. */
public final class MethodNames {

	private MethodNames() {
	}

	public static String describe(Method method, Class<?> targetClass) {
		return Stream.of(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(
					Collectors.joining(", ", owner(method, targetClass).getName() + "." + method.getName() + "(", ")"));
	}

	/** Returns the class, or for a JDK proxy the interface, that has the method. */
	public static Class<?> owner(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass)
				? ClassUtils.getInterfaceMethodIfPossible(method, targetClass).getDeclaringClass() : targetClass;
	}

}
