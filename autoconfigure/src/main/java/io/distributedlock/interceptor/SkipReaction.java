package io.distributedlock.interceptor;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.distributedlock.LockHolder;
import io.distributedlock.LockNotAcquiredException;

/**
 * Reaction that skips the call and returns the empty value of its result.
 *
 * @param described the method, for messages
 * @param empty the supplier of the empty value, or {@code null} if it is {@code null}
 * @param provider the provider that the method names, or {@code null}
 * @param observer the observer of skipped calls
 */
record SkipReaction(String described, @Nullable Supplier<Object> empty, @Nullable String provider,
		LockedCallObserver observer) implements BusyReaction {

	private static final Log logger = LogFactory.getLog(SkipReaction.class);

	@Override
	public @Nullable Object react(MethodInvocation invocation, LockNotAcquiredException busy) {
		if (logger.isDebugEnabled()) {
			LockHolder holder = busy.holder();
			logger.debug("Skipped the call of " + this.described + ": the lock '" + busy.key().name()
					+ "' with the key '" + busy.key() + "' is "
					+ ((holder != null && holder.released()) ? "kept after its release (minHold) by " : "held by ")
					+ ((holder != null) ? "'" + holder.label() + "'" : "an unknown holder"));
		}
		this.observer.onSkip(busy.key(), this.provider);
		return (this.empty != null) ? this.empty.get() : null;
	}

}
