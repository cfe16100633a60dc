package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Pointcut of the locked methods. It has no class filter: a proxy may have a locked
 * interface that the class of its target lacks.
 */
final class LockPointcut extends StaticMethodMatcherPointcut {

	private final LockedMethodRegistry methods;

	LockPointcut(LockedMethodRegistry methods) {
		this.methods = methods;
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.find(method, targetClass) != null;
	}

}
