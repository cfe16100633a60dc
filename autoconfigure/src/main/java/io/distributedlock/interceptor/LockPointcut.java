package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Pointcut of the locked methods. Its class filter leaves out only classes that have no
 * locked methods and whose methods Spring cannot read: a proxy may have a locked
 * interface that the class of its target lacks.
 */
final class LockPointcut extends StaticMethodMatcherPointcut {

	private final LockedMethodRegistry methods;

	LockPointcut(LockedMethodRegistry methods) {
		this.methods = methods;
		setClassFilter((type) -> methods.isLocked(type) || isReadable(type));
	}

	private static boolean isReadable(Class<?> type) {
		try {
			ReflectionUtils.getAllDeclaredMethods(ClassUtils.getUserClass(type));
			return true;
		}
		catch (IllegalStateException ex) {
			return !(ex.getCause() instanceof NoClassDefFoundError);
		}
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.find(method, targetClass) != null;
	}

}
