package io.distributedlock.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.util.ReflectionUtils;

import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Reaction that calls the fallback of a locked method, on the innermost object behind all
 * proxies. A method of an interface which that object lacks is called on the proxy.
 */
public final class FallbackReaction implements BusyReaction {

	private final Method fallback;

	private final DeclaredResult result;

	/** The number of arguments that the locked method has. */
	private final int arguments;

	FallbackReaction(Method fallback, Method method, DeclaredResult result) {
		ReflectionUtils.makeAccessible(fallback);
		this.fallback = fallback;
		this.result = result;
		this.arguments = method.getParameterCount();
	}

	/** Returns the fallback. */
	public Method method() {
		return this.fallback;
	}

	@Override
	public @Nullable Object react(MethodInvocation invocation, LockNotAcquiredException busy) throws Throwable {
		@Nullable Object[] args = Arrays.copyOf(invocation.getArguments(), this.fallback.getParameterCount());
		if (args.length > this.arguments) {
			args[this.arguments] = busy;
		}
		Object returned = callOn(invocation.getThis(), invocation, args);
		return this.result.requireFitting(returned,
				() -> "The fallback " + MethodNames.describe(this.fallback, this.fallback.getDeclaringClass()));
	}

	private @Nullable Object callOn(@Nullable Object target, MethodInvocation invocation, @Nullable Object[] args)
			throws Throwable {
		if (!(target instanceof Advised proxy)) {
			return call(receiver(target, invocation), args);
		}
		TargetSource source = proxy.getTargetSource();
		Object inner = source.getTarget();
		try {
			return callOn(inner, invocation, args);
		}
		finally {
			if (inner != null && !source.isStatic()) {
				source.releaseTarget(inner);
			}
		}
	}

	private @Nullable Object receiver(@Nullable Object target, MethodInvocation invocation) {
		boolean own = this.fallback.getDeclaringClass().isInstance(target);
		return (!own && invocation instanceof ProxyMethodInvocation proxied) ? proxied.getProxy() : target;
	}

	private @Nullable Object call(@Nullable Object receiver, @Nullable Object[] args) throws Throwable {
		try {
			return this.fallback.invoke(receiver, args);
		}
		catch (InvocationTargetException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
	}

}
