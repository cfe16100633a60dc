package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.springframework.util.ClassUtils;

/** Names of methods for messages. */
public final class MethodNames {

	private MethodNames() {
	}

	public static String describe(Method method, Class<?> targetClass) {
		StringBuilder text = new StringBuilder(owner(method, targetClass).getName()).append('.')
			.append(method.getName())
			.append('(');
		for (Class<?> type : method.getParameterTypes()) {
			text.append((text.charAt(text.length() - 1) == '(') ? "" : ", ").append(type.getSimpleName());
		}
		return text.append(')').toString();
	}

	/** Returns the class, or for a JDK proxy the interface, that has the method. */
	public static Class<?> owner(Method method, Class<?> targetClass) {
		return Proxy.isProxyClass(targetClass)
				? ClassUtils.getInterfaceMethodIfPossible(method, targetClass).getDeclaringClass() : targetClass;
	}

}
