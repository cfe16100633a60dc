package io.distributedlock.interceptor;

import java.lang.reflect.Method;

import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.expression.MethodNames;

/** Factory of the reactions of locked methods to a lock that was not acquired. */
final class BusyReactions {

	private final LockAttributeSource source;

	private final FailureHandlerLookup handlers;

	private final LockedCallObserver observer;

	/**
	 * Creates a factory.
	 * @param source the source that knows whether a fallback is locked itself
	 * @param handlers the lookup of the application's handler
	 * @param observer the observer of calls that are skipped
	 */
	BusyReactions(LockAttributeSource source, FailureHandlerLookup handlers, LockedCallObserver observer) {
		this.source = source;
		this.handlers = handlers;
		this.observer = observer;
	}

	FailureReaction onFailure(Method method, Class<?> targetClass) {
		return new FailureReaction(this.handlers, method, new DeclaredResult(method, targetClass));
	}

	BusyReaction onBusy(LockAttribute attribute, Method method, Class<?> targetClass) {
		boolean skip = attribute.onBusy() == OnBusy.SKIP;
		String fallback = attribute.fallback();
		if (fallback != null) {
			FallbackSearch search = new FallbackSearch(fallback, method, targetClass);
			if (skip) {
				throw search.skipped();
			}
			return onBusy(search, method, targetClass);
		}
		if (skip) {
			return new SkipReaction(MethodNames.describe(method, targetClass),
					new DeclaredResult(method, targetClass).findEmpty(), attribute.provider(), this.observer);
		}
		return onFailure(method, targetClass)::react;
	}

	private BusyReaction onBusy(FallbackSearch search, Method method, Class<?> targetClass) {
		Method fallback = search.find();
		if (fallback == null) {
			return new MissingFallback(search::missing);
		}
		if (this.source.getLockAttribute(fallback, targetClass) != null) {
			throw search.locked(fallback);
		}
		return new FallbackReaction(fallback, method, new DeclaredResult(method, targetClass));
	}

}
