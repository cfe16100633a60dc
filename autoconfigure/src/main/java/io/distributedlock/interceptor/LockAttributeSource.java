package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Tells which methods are to be locked, and how: from annotations, or from wherever an
 * implementation takes it. Asked once for each method, when its class is first seen.
 *
 * @since 0.1.0
 */
public interface LockAttributeSource {

	/**
	 * Whether the class can have locked methods at all: a fast path that spares looking
	 * at each of its methods.
	 * @param targetClass the class
	 * @return {@code false} if {@link #getLockAttribute} is {@code null} for each of its
	 * methods; {@code true} if it has to be asked
	 */
	default boolean isCandidateClass(Class<?> targetClass) {
		return true;
	}

	/**
	 * How the given method is to be locked.
	 * @param method the method, possibly of an interface
	 * @param targetClass the class that it is called on
	 * @return the attribute, or {@code null} if the method is not locked
	 * @throws io.distributedlock.LockConfigurationException if what it says cannot work
	 */
	@Nullable LockAttribute getLockAttribute(Method method, Class<?> targetClass);

	/**
	 * Whether the method itself was chosen, rather than its type as a whole. What no
	 * proxy can lock is a mistake in the first case, and passed over in the second where
	 * callers cannot reach it.
	 * @param method the method, possibly of an interface
	 * @param targetClass the class that it is called on
	 * @return whether the method itself says that it is locked
	 */
	boolean isDeclaredOnMethod(Method method, Class<?> targetClass);

}
