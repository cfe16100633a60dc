package io.distributedlock.interceptor;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockNotAcquiredException;

/**
 * Reaction of a method of an interface or a JDK proxy, which has no fallback. Calls reach
 * the class of the target instead, if that has one.
 */
public final class MissingFallback implements BusyReaction {

	private final Supplier<LockConfigurationException> failure;

	MissingFallback(Supplier<LockConfigurationException> failure) {
		this.failure = failure;
	}

	@Override
	public @Nullable Object react(MethodInvocation invocation, LockNotAcquiredException busy) {
		LockConfigurationException ex = failure();
		ex.addSuppressed(busy);
		throw ex;
	}

	public LockConfigurationException failure() {
		return this.failure.get();
	}

}
