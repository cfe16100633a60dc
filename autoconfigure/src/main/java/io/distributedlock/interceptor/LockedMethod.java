package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.Objects;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockContext;
import io.distributedlock.LockError;
import io.distributedlock.LockException;
import io.distributedlock.LockLease;
import io.distributedlock.LockNotAcquiredException;
import io.distributedlock.LockProviderException;
import io.distributedlock.LockRequest;
import io.distributedlock.OnLost;
import io.distributedlock.interceptor.expression.KeyExpressions;
import io.distributedlock.interceptor.expression.MethodExpressions;
import io.distributedlock.interceptor.expression.UnfinishedResults;

/** A method that is locked, with everything about it that does not change by the call. */
public final class LockedMethod {

	private final LockAttribute attribute;

	private final @Nullable KeyExpressions keys;

	private final @Nullable LockCondition condition;

	private final MethodExpressions expressions;

	private final LockRequest request;

	private final ResultKind kind;

	private final BusyReaction onBusy;

	private final FailureReactions reactions;

	private final DeclaredResult result;

	LockedMethod(LockAttribute attribute, Method method, Class<?> targetClass, MethodExpressions expressions,
			FailureReactions reactions) {
		this.attribute = attribute;
		this.keys = attribute.keys().isEmpty() ? null
				: new KeyExpressions(attribute.name(), attribute.keys(), expressions);
		this.condition = (attribute.condition() != null) ? LockCondition.parse(attribute.condition(), expressions)
				: null;
		this.expressions = expressions;
		this.kind = ResultKind.of(method.getReturnType());
		this.request = attribute.request();
		this.reactions = reactions;
		this.result = new DeclaredResult(method, targetClass);
		this.onBusy = reactions.onBusy(attribute, this.result);
	}

	LockRequest request(MethodInvocation invocation) {
		return (this.keys != null) ? this.request.withKeys(this.keys.resolve(invocation)) : this.request;
	}

	/** Returns the attribute that the method was read with. */
	public LockAttribute attribute() {
		return this.attribute;
	}

	/** Returns the method, for messages. */
	public String described() {
		return this.result.described();
	}

	/** Returns the expressions of the key and the condition. */
	public MethodExpressions expressions() {
		return this.expressions;
	}

	/** Returns the condition, or {@code null} if each call is locked. */
	@Nullable LockCondition condition() {
		return this.condition;
	}

	/**
	 * Requires that there is a provider for the lock.
	 * @throws LockConfigurationException if there is none, or it is not clear which
	 */
	public void requireProvider(LockOperationsLookup operations) {
		try {
			operations.find(this.attribute.provider());
		}
		catch (LockConfigurationException ex) {
			throw new LockConfigurationException(ex.error(),
					"The method " + described() + " cannot be locked: " + ex.problem(), ex.action(), ex.getCause());
		}
	}

	/** Returns the kind of the declared result. */
	ResultKind kind() {
		return this.kind;
	}

	public BusyReaction onBusy() {
		return this.onBusy;
	}

	/**
	 * Returns the result of a call whose body was not started.
	 * @param invocation the call
	 * @param ex why the method's own lock was not acquired
	 * @return the result; {@code null} also for a publisher without elements
	 * @throws Throwable what the caller gets instead
	 */
	@Nullable Object react(MethodInvocation invocation, LockException ex) throws Throwable {
		if (ex instanceof LockNotAcquiredException busy) {
			return this.onBusy.react(invocation, busy);
		}
		if (ex instanceof LockProviderException) {
			return this.reactions.handle(ex, invocation, this.result);
		}
		throw ex;
	}

	/** Runs the method, in a scope whose loss is no obstacle if the loss is ignored. */
	@Nullable Object proceed(MethodInvocation invocation, LockLease lease) throws Throwable {
		if (!ignoresLoss()) {
			return invocation.proceed();
		}
		try (LockContext.Scope scope = LockContext.open(lease)) {
			scope.ignoreLoss();
			return invocation.proceed();
		}
	}

	boolean interruptsWhenLost() {
		return this.attribute.onLost() == OnLost.INTERRUPT;
	}

	boolean ignoresLoss() {
		return this.attribute.onLost() == OnLost.IGNORE;
	}

	/**
	 * Returns whether each call of this method holds the lock of another method: both
	 * have one lock for their common name, and this one takes it in each call.
	 */
	public boolean covers(LockedMethod other) {
		return this.condition == null && this.keys == null && other.keys == null
				&& this.attribute.name().equals(other.attribute.name())
				&& Objects.equals(this.attribute.provider(), other.attribute.provider());
	}

	/** Refuses to wait for a lock on a thread of an event loop. */
	void requireBlockingThread() {
		if (ResultKind.isOnNonBlockingThread()) {
			throw new LockConfigurationException(LockError.NON_BLOCKING_THREAD,
					"The locked method " + described() + " was called on '" + Thread.currentThread().getName()
							+ "', a thread of an event loop, which must not wait for a lock",
					"Return a Mono: it waits without a thread. Or call the method on Schedulers.boundedElastic()");
		}
	}

	/** Reports a method that has returned {@code null} where a publisher is declared. */
	LockConfigurationException nullPublisher() {
		return new LockConfigurationException(LockError.UNSUITABLE_RESULT,
				"The locked method " + described() + " returned null in place of a publisher",
				"Return Mono.empty() or Flux.empty()");
	}

	/** Refuses a result whose work continues after the lock is released. */
	@Nullable Object requireFinished(@Nullable Object result) {
		Class<?> unfinished = UnfinishedResults.find(result);
		if (unfinished != null) {
			throw new LockConfigurationException(LockError.UNSUPPORTED_RESULT,
					"The locked method " + described() + " returned a " + unfinished.getName()
							+ " that is not finished: its work continues after the lock is released",
					LockedMethodChecks.HELD_RESULTS);
		}
		return result;
	}

}
