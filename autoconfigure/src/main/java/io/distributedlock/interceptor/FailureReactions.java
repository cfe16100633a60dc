package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.Optional;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockFailureHandler;
import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * The reactions of locked methods to a lock that was not acquired. The application's
 * {@link LockFailureHandler} is looked up with the first failure, so that it is not
 * created before ordinary beans. Safe for use by many threads.
 */
final class FailureReactions {

	private final LockAttributeSource source;

	private final BeanFactory beanFactory;

	private final LockedCallObserver observer;

	/**
	 * The handler. It is looked up without a lock, because the bean factory has locks of
	 * its own: threads that come together all look it up, and the last one counts.
	 */
	@SuppressWarnings("NullableOptional") // null until it was looked up
	private volatile @Nullable Optional<LockFailureHandler> handler;

	/**
	 * Creates the reactions.
	 * @param source the source that knows whether a fallback is locked itself
	 * @param beanFactory the bean factory that may have a handler
	 * @param observer the observer of calls that are skipped
	 */
	FailureReactions(LockAttributeSource source, BeanFactory beanFactory, LockedCallObserver observer) {
		this.source = source;
		this.beanFactory = beanFactory;
		this.observer = observer;
	}

	BusyReaction onBusy(LockAttribute attribute, DeclaredResult result, Class<?> targetClass) {
		boolean skip = attribute.onBusy() == OnBusy.SKIP;
		String fallback = attribute.fallback();
		if (fallback != null) {
			FallbackSearch search = new FallbackSearch(fallback, result.method(), targetClass);
			if (skip) {
				throw search.skipped();
			}
			Method found = search.find();
			if (found != null && this.source.getLockAttribute(found, targetClass) != null) {
				throw search.locked(found);
			}
			return new FallbackReaction(found, search, result);
		}
		if (skip) {
			return new SkipReaction(MethodNames.describe(result.method(), targetClass), result.findEmpty(),
					attribute.provider(), this.observer);
		}
		return (invocation, busy) -> handle(busy, invocation, result);
	}

	/**
	 * Returns the handler.
	 * @return the handler, or {@code null} if the application has none
	 * @throws LockConfigurationException if it has several
	 */
	@Nullable LockFailureHandler handler() {
		Optional<LockFailureHandler> found = this.handler;
		if (found == null) {
			found = find();
			this.handler = found;
		}
		return found.orElse(null);
	}

	/**
	 * Returns the result of the handler in place of that of a call.
	 * @throws Throwable what the caller gets; the failure if there is no handler
	 */
	@Nullable Object handle(LockException failure, MethodInvocation invocation, DeclaredResult result) throws Throwable {
		LockFailureHandler found = find(failure);
		if (found == null) {
			throw failure;
		}
		Object handled = found.handleFailure(failure, result.method(), invocation.getThis(), invocation.getArguments());
		return result.requireFitting(handled,
				() -> "The LockFailureHandler " + AopUtils.getTargetClass(found).getName());
	}

	/** A handler that cannot be created must not hide why the lock was not acquired. */
	private @Nullable LockFailureHandler find(LockException failure) {
		try {
			return handler();
		}
		catch (BeansException ex) {
			failure.addSuppressed(ex);
			return null;
		}
	}

	private Optional<LockFailureHandler> find() {
		try {
			return Optional.ofNullable(this.beanFactory.getBeanProvider(LockFailureHandler.class).getIfAvailable());
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockConfigurationException(LockError.SEVERAL_FAILURE_HANDLERS,
					"There are several beans of the type LockFailureHandler: " + ex.getBeanNamesFound(),
					"Keep one of them, or make it @Primary", ex);
		}
	}

}
