package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;

import io.distributedlock.LockException;
import io.distributedlock.LockFailureHandler;

/**
 * Reaction to a lock that was not acquired: the exception, or the result of the
 * application's {@link LockFailureHandler}.
 */
final class FailureReaction {

	private final FailureHandlerLookup handlers;

	private final Method method;

	private final DeclaredResult result;

	FailureReaction(FailureHandlerLookup handlers, Method method, DeclaredResult result) {
		this.handlers = handlers;
		this.method = method;
		this.result = result;
	}

	@Nullable Object react(MethodInvocation invocation, LockException failure) throws Throwable {
		LockFailureHandler handler = find(failure);
		if (handler == null) {
			throw failure;
		}
		Object handled = handler.handleFailure(failure, this.method, invocation.getThis(), invocation.getArguments());
		return this.result.requireFitting(handled,
				() -> "The LockFailureHandler " + AopUtils.getTargetClass(handler).getName());
	}

	/** A handler that cannot be created must not hide why the lock was not acquired. */
	private @Nullable LockFailureHandler find(LockException failure) {
		try {
			return this.handlers.get();
		}
		catch (BeansException ex) {
			failure.addSuppressed(ex);
			return null;
		}
	}

}
