package io.distributedlock.annotation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;

/** The names of locks that declare none, each for one method only. */
final class DefaultNames {

	private static final Log logger = LogFactory.getLog(DefaultNames.class);

	private final ConcurrentMap<String, String> owners = new ConcurrentHashMap<>();

	/** The first class of each name. */
	private final ConcurrentMap<String, Class<?>> classes = new ConcurrentHashMap<>();

	private final Set<String> warned = ConcurrentHashMap.newKeySet();

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
		if (source instanceof Class<?> annotated
				&& (Proxy.isProxyClass(type) || (type != annotated && type.isAssignableFrom(annotated)))) {
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

	/**
	 * Checks that no other class of beans has inherited the same default name. Interfaces
	 * and proxies are left out: the classes of their targets are read by themselves.
	 * @param name the default name
	 * @param type the class
	 * @param skip whether a busy lock is skipped, so that one class skips the other's
	 * work; a class that replaces another one, as in a test, extends it
	 * @throws LockConfigurationException if there is another class, and calls are skipped
	 */
	void requireOneClass(String name, Class<?> type, boolean skip) {
		if (Modifier.isAbstract(type.getModifiers()) || Proxy.isProxyClass(type)) {
			return;
		}
		Class<?> earlier = this.classes.putIfAbsent(name, type);
		if (earlier == null || earlier == type) {
			return;
		}
		String fact = "The classes " + earlier.getName() + " and " + type.getName()
				+ " inherit a locked method with the default name '" + name + "', so that ";
		String action = "Give each class a name of its own: override the method in each with an annotation that has a"
				+ " name, or annotate the classes. Or set the name, to share the lock on purpose";
		boolean related = earlier.isAssignableFrom(type) || type.isAssignableFrom(earlier);
		if (skip && !related) {
			throw new LockConfigurationException(LockError.AMBIGUOUS_NAME,
					fact + "one skips its work while the other runs", action);
		}
		if (this.warned.add(type.getName() + " " + name)) {
			logger.warn(LockError.AMBIGUOUS_NAME.describe(fact + "they wait for each other", action));
		}
	}

	private static String simpleName(Class<?> type) {
		String name = type.getName();
		return type.getSimpleName().isEmpty() ? name.substring(name.lastIndexOf('.') + 1) : type.getSimpleName();
	}

}
