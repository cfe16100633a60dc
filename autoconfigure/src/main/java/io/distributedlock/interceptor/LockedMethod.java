package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockKey;
import io.distributedlock.LockRequest;

/** A method that is locked, with everything about it that does not change by the call. */
final class LockedMethod {

	private final LockAttribute attribute;

	private final @Nullable KeyExpressions keys;

	private final LockRequest request;

	private final @Nullable Object skippedResult;

	private final String described;

	LockedMethod(LockAttribute attribute, Method method, Class<?> targetClass, @Nullable KeyExpressions keys) {
		this.attribute = attribute;
		this.described = MethodNames.describe(method, targetClass);
		this.keys = keys;
		this.request = new LockRequest(List.of(LockKey.of(attribute.name())), attribute.lease(), attribute.waitTime(),
				attribute.renew(), attribute.maxHold());
		this.skippedResult = emptyResult(method.getReturnType());
	}

	private static @Nullable Object emptyResult(Class<?> type) {
		if (type == Optional.class) {
			return Optional.empty();
		}
		if (type == OptionalInt.class) {
			return OptionalInt.empty();
		}
		if (type == OptionalLong.class) {
			return OptionalLong.empty();
		}
		return (type == OptionalDouble.class) ? OptionalDouble.empty() : null;
	}

	LockRequest request(MethodInvocation invocation) {
		return (this.keys != null) ? this.request.withKeys(this.keys.resolve(invocation)) : this.request;
	}

	boolean skipsWhenBusy() {
		return this.attribute.onBusy() == OnBusy.SKIP;
	}

	@Nullable Object skippedResult() {
		return this.skippedResult;
	}

	boolean ignoresLoss() {
		return this.attribute.onLost() == OnLost.IGNORE;
	}

	/** Refuses a result whose work continues after the lock is released. */
	@Nullable Object requireFinished(@Nullable Object result) {
		Class<?> unfinished = UnfinishedResults.find(result);
		if (unfinished != null) {
			throw LockedMethodChecks.unfinishedResult(this.described, unfinished);
		}
		return result;
	}

}
