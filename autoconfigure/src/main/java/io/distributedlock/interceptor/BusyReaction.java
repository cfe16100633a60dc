package io.distributedlock.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockNotAcquiredException;

/** What a call of a locked method does whose lock stays busy for the whole wait time. */
@FunctionalInterface
interface BusyReaction {

	/**
	 * Returns the result of a call whose body is not run.
	 * @param invocation the call, which must not proceed
	 * @param busy the exception of the busy lock
	 * @return the result, of the type that the method declares; {@code null} also for a
	 * publisher without elements
	 * @throws Throwable what the caller gets instead
	 */
	@Nullable Object react(MethodInvocation invocation, LockNotAcquiredException busy) throws Throwable;

}
