package io.distributedlock.interceptor;

import java.lang.reflect.Method;

/** Names of methods for messages. */
final class MethodNames {

	private MethodNames() {
	}

	static String describe(Method method, Class<?> targetClass) {
		StringBuilder text = new StringBuilder(targetClass.getName()).append('.').append(method.getName()).append('(');
		for (Class<?> type : method.getParameterTypes()) {
			text.append((text.charAt(text.length() - 1) == '(') ? "" : ", ").append(type.getSimpleName());
		}
		return text.append(')').toString();
	}

}
