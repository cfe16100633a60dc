package io.distributedlock.interceptor.expression;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/** Root object of a key expression, {@code #root}. */
public final class KeyRoot {

	private final Method method;

	private final @Nullable Object target;

	private final @Nullable Object[] args;

	KeyRoot(Method method, @Nullable Object target, @Nullable Object[] args) {
		this.method = method;
		this.target = target;
		this.args = args;
	}

	public Method getMethod() {
		return this.method;
	}

	public @Nullable Object getTarget() {
		return this.target;
	}

	public @Nullable Object[] getArgs() {
		return this.args;
	}

}
