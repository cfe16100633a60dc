package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LongestLease;

/**
 * Check that each store can keep the shortest holds and the leases of all locked methods
 * that are known when the application has started. It refuses the start; a method that is
 * read later is refused when it is called.
 */
final class MethodLimitsCheck {

	private final LockedMethodRegistry methods;

	private final @Nullable LockEngines engines;

	/**
	 * Creates a check.
	 * @param methods the locked methods
	 * @param engines the engines, or {@code null} if the application has its own locks
	 */
	MethodLimitsCheck(LockedMethodRegistry methods, @Nullable LockEngines engines) {
		this.methods = methods;
		this.engines = engines;
	}

	/**
	 * Checks all locked methods.
	 * @throws LockConfigurationException if a store cannot keep what one of them asks for
	 */
	void check() {
		this.methods.forEach(this::check);
	}

	private void check(String method, LockAttribute attribute) {
		LockProvider provider = (this.engines != null) ? this.engines.provider(attribute.provider()) : null;
		Duration minHold = attribute.minHold();
		if (minHold != null) {
			if (provider != null) {
				checkStore(method, minHold, provider);
			}
			checkLongestHold(method, attribute, minHold);
		}
		if (provider != null) {
			provider.longestLease().ifPresent((longest) -> checkLongestLease(method, attribute, provider, longest));
		}
	}

	/**
	 * Compares with what the store can keep without a renewal. The default of the lease
	 * is no matter of a method.
	 */
	private static void checkLongestLease(String method, LockAttribute attribute, LockProvider provider,
			LongestLease longest) {
		if (attribute.lease() != null && longest.isExceededBy(attribute.lease())) {
			throw tooLong(LockError.INVALID_LEASE, method, "lease of " + attribute.lease(), provider, longest,
					"Use a shorter lease of the method, which is renewed while it runs, or raise ");
		}
		if (attribute.minHold() != null && longest.isExceededBy(attribute.minHold())) {
			throw tooLong(LockError.INVALID_MIN_HOLD, method, "minHold of " + attribute.minHold(), provider, longest,
					"Use a shorter minHold of the method, or raise ");
		}
	}

	private static LockConfigurationException tooLong(LockError error, String method, String what,
			LockProvider provider, LongestLease longest, String action) {
		return new LockConfigurationException(error, "The locked method " + method + " has a " + what
				+ ", but the store '" + provider.name() + "' keeps no lock for longer than " + longest,
				action + longest.setting());
	}

	/**
	 * Compares with the default of the longest hold, which the annotation cannot know.
	 */
	private void checkLongestHold(String method, LockAttribute attribute, Duration minHold) {
		Duration maxHold = (this.engines != null && attribute.maxHold() == null) ? this.engines.settings().maxHold()
				: null;
		if (maxHold != null && minHold.compareTo(maxHold) > 0) {
			throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
					"The locked method " + method + " has a minHold of " + minHold
							+ ", but the longest hold (distributed-lock.max-hold) is " + maxHold,
					"Set maxHold of the method, or distributed-lock.max-hold, to more than the minHold");
		}
	}

	private static void checkStore(String method, Duration minHold, LockProvider provider) {
		if (!provider.supportsMinHold()) {
			throw new LockConfigurationException(LockError.MIN_HOLD_UNSUPPORTED,
					"The locked method " + method + " has a minHold of " + minHold + ", but the store '"
							+ provider.name() + "' cannot keep a lock after its release",
					"Remove the minHold, or keep the locks in Redis or, with distributed-lock.jdbc.strategy=lease, in a "
							+ "database");
		}
	}

}
