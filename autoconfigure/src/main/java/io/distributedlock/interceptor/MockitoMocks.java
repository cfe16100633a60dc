package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Mocks with which tests replace beans: the body of a method is not run, so that no lock
 * is needed. An inline mock has the same class as the bean that it replaces.
 */
public final class MockitoMocks {

	private MockitoMocks() {
	}

	public static boolean isMock(Object bean) {
		ClassLoader loader = bean.getClass().getClassLoader();
		if (!ClassUtils.isPresent("org.mockito.Mockito", loader)) {
			return false;
		}
		Class<?> mockito = ClassUtils.resolveClassName("org.mockito.Mockito", loader);
		Object details = invoke(ReflectionUtils.findMethod(mockito, "mockingDetails", Object.class), null, bean);
		Class<?> type = ClassUtils.resolveClassName("org.mockito.MockingDetails", loader);
		return details != null && Boolean.TRUE.equals(invoke(ReflectionUtils.findMethod(type, "isMock"), details));
	}

	/** Returns whether a class was generated for mocks of an interface. */
	static boolean isMockClass(Class<?> type) {
		return type.getName().contains("$MockitoMock$");
	}

	private static @Nullable Object invoke(@Nullable Method method, @Nullable Object target, Object... arguments) {
		return (method != null) ? ReflectionUtils.invokeMethod(method, target, arguments) : null;
	}

}
