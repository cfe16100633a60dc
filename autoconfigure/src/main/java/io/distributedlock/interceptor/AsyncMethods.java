package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;

import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * Locked methods that are {@link Async}: Spring's advice for them has to run outside the
 * lock's, so that the thread that runs the body holds the lock.
 */
public final class AsyncMethods {

	private AsyncMethods() {
	}

	public static boolean isAsync(Method method, Class<?> targetClass) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class)
				|| MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class);
	}

	public static boolean isAsync(Advice advice) {
		return advice instanceof AsyncExecutionInterceptor;
	}

	public static LockConfigurationException insideLock(Method method, Class<?> targetClass) {
		return new LockConfigurationException(LockError.ASYNC_INSIDE_LOCK,
				"The locked method " + MethodNames.describe(method, targetClass)
						+ " is @Async, but its task is submitted inside the lock, so that the task would run after the"
						+ " lock is released",
				"Let @EnableAsync use proxies (not AdviceMode.ASPECTJ) with its default order, or lock a method that the"
						+ " task calls");
	}

}
