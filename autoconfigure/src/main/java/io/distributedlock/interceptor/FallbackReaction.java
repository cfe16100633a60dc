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

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Reaction that calls the fallback of a locked method, on the innermost object behind all
 * proxies. A method of an interface which that object lacks is called on the proxy.
 */
public final class FallbackReaction implements BusyReaction {

	private final @Nullable Method fallback;

	private final FallbackSearch search;

	private final DeclaredResult result;

	/**
	 * Creates a reaction.
	 * @param fallback the fallback, or {@code null} if a method of an interface or a JDK
	 * proxy has none: calls reach the class of the target instead, if that has one
	 */
	FallbackReaction(@Nullable Method fallback, FallbackSearch search, DeclaredResult result) {
		if (fallback != null) {
			ReflectionUtils.makeAccessible(fallback);
		}
		this.fallback = fallback;
		this.search = search;
		this.result = result;
	}

	/** Returns the fallback, or {@code null} if it is missing on this layer. */
	public @Nullable Method method() {
		return this.fallback;
	}

	/** Returns the failure of a method without a fallback. */
	public LockConfigurationException missing() {
		return this.search.missing();
	}

	@Override
	public @Nullable Object react(MethodInvocation invocation, LockNotAcquiredException busy) throws Throwable {
		Method present = this.fallback;
		if (present == null) {
			LockConfigurationException ex = missing();
			ex.addSuppressed(busy);
			throw ex;
		}
		@Nullable Object[] args = invocation.getArguments();
		if (present.getParameterCount() > args.length) {
			args = Arrays.copyOf(args, args.length + 1);
			args[args.length - 1] = busy;
		}
		Object returned = call(present, invocation.getThis(), invocation, args);
		return this.result.requireFitting(returned,
				() -> "The fallback " + MethodNames.describe(present, present.getDeclaringClass()));
	}

	private static @Nullable Object call(Method fallback, @Nullable Object target, MethodInvocation invocation,
			@Nullable Object[] args) throws Throwable {
		if (!(target instanceof Advised proxy)) {
			boolean own = fallback.getDeclaringClass().isInstance(target);
			Object receiver = (!own && invocation instanceof ProxyMethodInvocation proxied) ? proxied.getProxy()
					: target;
			try {
				return fallback.invoke(receiver, args);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}
		TargetSource source = proxy.getTargetSource();
		Object inner = source.getTarget();
		try {
			return call(fallback, inner, invocation, args);
		}
		finally {
			if (inner != null && !source.isStatic()) {
				source.releaseTarget(inner);
			}
		}
	}

}
