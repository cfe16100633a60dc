package io.distributedlock.interceptor;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/** The reactions of locked methods to a busy lock. */
final class BusyReactions {

	private BusyReactions() {
	}

	static BusyReaction of(LockAttribute attribute, Method method) {
		if (attribute.onBusy() == OnBusy.SKIP) {
			Object skipped = emptyResult(method.getReturnType());
			return (invocation, busy) -> skipped;
		}
		return (invocation, busy) -> {
			throw busy;
		};
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

}
