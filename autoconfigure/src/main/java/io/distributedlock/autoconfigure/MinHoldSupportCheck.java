package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockError;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * Check that the store can keep the shortest holds of all locked methods that are known
 * when the application has started. It refuses the start; a method that is read later is
 * refused when it is called.
 */
final class MinHoldSupportCheck implements SmartInitializingSingleton {

	private final LockedMethodRegistry methods;

	private final ObjectProvider<SelectedLockProvider> selected;

	MinHoldSupportCheck(LockedMethodRegistry methods, ObjectProvider<SelectedLockProvider> selected) {
		this.methods = methods;
		this.selected = selected;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.methods.forEach(this::check);
	}

	private void check(String method, LockAttribute attribute) {
		// Without a provider of ours the application brings its own operations.
		SelectedLockProvider chosen = (attribute.minHold() != null) ? this.selected.getIfAvailable() : null;
		if (chosen != null && !chosen.provider().supportsMinHold()) {
			throw new LockConfigurationException(LockError.MIN_HOLD_UNSUPPORTED,
					"The locked method " + method + " has a minHold of " + attribute.minHold() + ", but the store '"
							+ chosen.provider().name() + "' cannot keep a lock after its release",
					"Remove the minHold, or keep the locks in a database or in Redis");
		}
	}

}
