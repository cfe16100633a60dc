package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.provider.LockProvider;

/**
 * Check that each store can keep the shortest holds of all locked methods that are known
 * when the application has started. It refuses the start; a method that is read later is
 * refused when it is called.
 */
final class MinHoldSupportCheck implements SmartInitializingSingleton {

	private final LockedMethodRegistry methods;

	private final ObjectProvider<LockEngines> engines;

	MinHoldSupportCheck(LockedMethodRegistry methods, ObjectProvider<LockEngines> engines) {
		this.methods = methods;
		this.engines = engines;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.methods.forEach(this::check);
	}

	private void check(String method, LockAttribute attribute) {
		// Without engines of ours the application brings its own operations.
		LockEngines present = (attribute.minHold() != null) ? this.engines.getIfAvailable() : null;
		LockProvider provider = (present != null) ? present.provider(attribute.provider()) : null;
		if (provider != null && !provider.supportsMinHold()) {
			throw new LockConfigurationException(LockError.MIN_HOLD_UNSUPPORTED,
					"The locked method " + method + " has a minHold of " + attribute.minHold() + ", but the store '"
							+ provider.name() + "' cannot keep a lock after its release",
					"Remove the minHold, or keep the locks in a database or in Redis");
		}
	}

}
