package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Source of the lock attributes of methods, such as their annotations. Called for each
 * method of a class when the class is seen for the first time.
 *
 * @since 0.1.0
 */
public interface LockAttributeSource {

	/**
	 * Returns whether the class can have locked methods at all: a fast path that spares
	 * reading each of its methods.
	 * @param targetClass the class
	 * @return {@code false} if {@link #getLockAttribute} is {@code null} for each of its
	 * methods; {@code true} if that has to be called
	 */
	default boolean isCandidateClass(Class<?> targetClass) {
		return true;
	}

	/**
	 * Returns the lock attribute of a method.
	 * @param method the method, possibly of an interface
	 * @param targetClass the class that it is called on
	 * @return the attribute, or {@code null} if the method is not locked
	 * @throws io.distributedlock.LockConfigurationException if the attribute cannot work
	 */
	@Nullable LockAttribute getLockAttribute(Method method, Class<?> targetClass);

	/**
	 * Returns whether the attribute is declared on the method, rather than on its type. A
	 * method that no proxy can intercept is a mistake if the attribute is declared on it;
	 * otherwise it is ignored where callers cannot reach it.
	 * @param method the method, possibly of an interface
	 * @param targetClass the class that it is called on
	 * @return whether the attribute is declared on the method
	 */
	boolean isDeclaredOnMethod(Method method, Class<?> targetClass);

}
