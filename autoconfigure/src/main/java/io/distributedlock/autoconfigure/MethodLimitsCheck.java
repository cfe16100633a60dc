package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.engine.grant.EngineFailures;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.provider.LongestLease;

/**
 * Check that each store can keep the modes, the shortest holds and the leases of all
 * locked methods that are known when the application has started, be it the store of a
 * parent context. It refuses the start; a method that is read later is refused when it is
 * called. Where there are locked methods, the stores themselves are checked, too.
 *
 * @param methods the locked methods
 * @param beanFactory the factory that may have engines
 */
record MethodLimitsCheck(LockedMethodRegistry methods, BeanFactory beanFactory) implements SmartInitializingSingleton {

	@Override
	public void afterSingletonsInstantiated() {
		// An application with locks of its own has no engines.
		LockEngines engines = this.methods.isEmpty() ? null
				: this.beanFactory.getBeanProvider(LockEngines.class).getIfAvailable();
		if (engines != null) {
			this.methods.forEach((method) -> check(method.described(), method.attribute(), engines));
			this.beanFactory.getBeanProvider(LockStart.class).ifAvailable(LockStart::check);
		}
	}

	private static void check(String method, LockAttribute attribute, LockEngines engines) {
		LockProvider provider = engines.provider(attribute.provider());
		Duration minHold = attribute.request().minHold();
		if (minHold != null) {
			if (provider != null) {
				checkStore(method, minHold, provider);
			}
			if (attribute.request().maxHold() == null) {
				checkLongestHold(method, minHold, engines.settings().maxHold());
			}
		}
		if (provider != null) {
			if (!provider.supports(attribute.request().mode())) {
				throw new EngineFailures(provider.name()).unsupported(attribute.request().mode(),
						"The locked method " + method + " has a lock");
			}
			provider.longestLease().ifPresent((longest) -> checkLongestLease(method, attribute, provider, longest));
		}
	}

	/**
	 * Compares with what the store can keep without a renewal. The default of the lease
	 * is no matter of a method.
	 */
	private static void checkLongestLease(String method, LockAttribute attribute, LockProvider provider,
			LongestLease longest) {
		if (attribute.request().lease() != null && longest.isExceededBy(attribute.request().lease())) {
			throw tooLong(LockError.INVALID_LEASE, method, "lease of " + attribute.request().lease(), provider, longest,
					"Use a shorter lease of the method, which is renewed while it runs, or raise ");
		}
		if (attribute.request().minHold() != null && longest.isExceededBy(attribute.request().minHold())) {
			throw tooLong(LockError.INVALID_MIN_HOLD, method, "minHold of " + attribute.request().minHold(), provider,
					longest, "Use a shorter minHold of the method, or raise ");
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
	private static void checkLongestHold(String method, Duration minHold, @Nullable Duration maxHold) {
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
