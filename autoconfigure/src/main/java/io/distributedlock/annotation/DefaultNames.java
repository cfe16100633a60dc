package io.distributedlock.annotation;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/** The names of locks that declare none, each for one method only. */
final class DefaultNames {

	private final ConcurrentMap<String, String> owners = new ConcurrentHashMap<>();

	/**
	 * Returns the default name of a method.
	 * @param method the method that is annotated, or whose type is
	 * @param source the annotated element, a method or a type
	 * @return the simple name of the declaring class, a dot, and the method's name; of
	 * the annotated type, if the method is inherited from a type above that
	 * @throws LockConfigurationException if another method already has the name
	 */
	String of(Method method, @Nullable Object source) {
		Class<?> type = ClassUtils.getUserClass(method.getDeclaringClass());
		if (source instanceof Class<?> annotated && (Proxy.isProxyClass(type) || isAbove(type, annotated))) {
			type = annotated;
		}
		String name = simpleName(type) + "." + method.getName();
		String owner = type.getName() + "." + method.getName() + Arrays.toString(method.getParameterTypes());
		String earlier = this.owners.putIfAbsent(name, owner);
		if (earlier != null && !earlier.equals(owner)) {
			throw new LockConfigurationException(LockError.AMBIGUOUS_NAME,
					"The locked methods " + earlier + " and " + owner + " have the same default name '" + name
							+ "', so that they would share locks",
					"Give each a name of its own with @DistributedLock(name = \"…\"), or both the same one to share locks");
		}
		return name;
	}

	private static boolean isAbove(Class<?> type, Class<?> annotated) {
		return type != annotated && type.isAssignableFrom(annotated);
	}

	private static String simpleName(Class<?> type) {
		String name = type.getName();
		return type.getSimpleName().isEmpty() ? name.substring(name.lastIndexOf('.') + 1) : type.getSimpleName();
	}

}
