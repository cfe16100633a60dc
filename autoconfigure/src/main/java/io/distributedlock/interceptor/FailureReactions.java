package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockFailureHandler;
import io.distributedlock.LockHolder;
import io.distributedlock.OnBusy;
import io.distributedlock.interceptor.expression.MethodNames;

/**
 * The reactions of locked methods to a lock that was not acquired. The application's
 * {@link LockFailureHandler} is looked up with the first failure, so that it is not
 * created before ordinary beans, and kept, since the application may be closing at a
 * later one. Safe for use by many threads.
 */
final class FailureReactions {

	private static final Log logger = LogFactory.getLog(FailureReactions.class);

	private final LockAttributeSource source;

	private final BeanFactory beanFactory;

	private final LockedCallObserver observer;

	/** The handler once it was found: threads that come together may all look it up. */
	private volatile @Nullable LockFailureHandler handler;

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

	BusyReaction onBusy(LockAttribute attribute, DeclaredResult result) {
		boolean skip = attribute.onBusy() == OnBusy.SKIP;
		if (attribute.fallback() == null) {
			return skip ? skip(attribute, result) : (invocation, busy) -> handle(busy, invocation, result);
		}
		if (skip) {
			throw FallbackReaction.refused(attribute.fallback(), result,
					"would never be called, because onBusy = SKIP skips the call",
					"Remove onBusy = SKIP, or the attribute fallback");
		}
		FallbackReaction reaction = new FallbackReaction(attribute.fallback(), result);
		Method fallback = reaction.method();
		if (fallback != null && this.source.getLockAttribute(fallback, result.targetClass()) != null) {
			throw reaction.refused(
					"is locked itself (" + MethodNames.describe(fallback, result.targetClass())
							+ "), but a fallback is called on the bare object and so without its lock",
					"Remove its annotation; if its class is annotated, make it protected or private");
		}
		return reaction;
	}

	/** Skips the call, and returns the empty value of its result. */
	private BusyReaction skip(LockAttribute attribute, DeclaredResult result) {
		Supplier<Object> empty = result.findEmpty();
		return (invocation, busy) -> {
			if (logger.isDebugEnabled()) {
				LockHolder holder = busy.holder();
				logger.debug("Skipped the call of " + result.described() + ": the lock '" + busy.key().name()
						+ "' with the key '" + busy.key() + "' is "
						+ ((holder != null && holder.released()) ? "kept after its release (minHold) by " : "held by ")
						+ ((holder != null) ? "'" + holder.label() + "'" : "an unknown holder"));
			}
			this.observer.onSkip(busy.key(), attribute.provider());
			return (empty != null) ? empty.get() : null;
		};
	}

	/**
	 * Returns the handler.
	 * @return the handler, or {@code null} if the application has none
	 * @throws LockConfigurationException if it has several
	 */
	@Nullable LockFailureHandler handler() {
		try {
			if (this.handler == null) {
				this.handler = this.beanFactory.getBeanProvider(LockFailureHandler.class).getIfAvailable();
			}
			return this.handler;
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockConfigurationException(LockError.SEVERAL_FAILURE_HANDLERS,
					"There are several beans of the type LockFailureHandler: " + ex.getBeanNamesFound(),
					"Keep one of them, or make it @Primary", ex);
		}
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

}
