package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Matches the locked methods. */
final class LockPointcut extends StaticMethodMatcherPointcut {

	private final LockedMethodRegistry methods;

	LockPointcut(LockedMethodRegistry methods) {
		this.methods = methods;
		setClassFilter(new LockedClassFilter(methods));
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.find(method, targetClass) != null;
	}

	private record LockedClassFilter(LockedMethodRegistry methods) implements ClassFilter {

		@Override
		public boolean matches(Class<?> type) {
			return this.methods.isLocked(type);
		}

	}

}
