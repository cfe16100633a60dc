package io.distributedlock.autoconfigure;

import java.time.Duration;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.provider.LockProvider;
import io.distributedlock.support.LockSettings;

/**
 * Check that each store can keep the shortest holds of all locked methods that are known
 * when the application has started. It refuses the start; a method that is read later is
 * refused when it is called.
 */
final class MinHoldSupportCheck implements SmartInitializingSingleton {

	private final LockedMethodRegistry methods;

	private final ObjectProvider<LockEngines> engines;

	private final ObjectProvider<LockSettings> settings;

	MinHoldSupportCheck(LockedMethodRegistry methods, ObjectProvider<LockEngines> engines,
			ObjectProvider<LockSettings> settings) {
		this.methods = methods;
		this.engines = engines;
		this.settings = settings;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.methods.forEach(this::check);
	}

	private void check(String method, LockAttribute attribute) {
		if (attribute.minHold() != null) {
			checkStore(method, attribute);
			checkLongestHold(method, attribute, attribute.minHold());
		}
	}

	/**
	 * Compares with the default of the longest hold, which the annotation cannot know.
	 */
	private void checkLongestHold(String method, LockAttribute attribute, Duration minHold) {
		LockSettings defaults = (attribute.maxHold() == null) ? this.settings.getIfAvailable() : null;
		Duration maxHold = (defaults != null) ? defaults.maxHold() : null;
		if (maxHold != null && minHold.compareTo(maxHold) > 0) {
			throw new LockConfigurationException(LockError.INVALID_MIN_HOLD,
					"The locked method " + method + " has a minHold of " + minHold
							+ ", but the longest hold (distributed-lock.max-hold) is " + maxHold,
					"Set maxHold of the method, or distributed-lock.max-hold, to more than the minHold");
		}
	}

	private void checkStore(String method, LockAttribute attribute) {
		// Without engines of ours the application brings its own operations.
		LockEngines present = this.engines.getIfAvailable();
		LockProvider provider = (present != null) ? present.provider(attribute.provider()) : null;
		if (provider != null && !provider.supportsMinHold()) {
			throw new LockConfigurationException(LockError.MIN_HOLD_UNSUPPORTED,
					"The locked method " + method + " has a minHold of " + attribute.minHold() + ", but the store '"
							+ provider.name() + "' cannot keep a lock after its release",
					"Remove the minHold, or keep the locks in Redis or, with distributed-lock.jdbc.strategy=lease, in a "
							+ "database");
		}
	}

}
