package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.support.LockSettings;

/**
 * The start of locking for a context that has locked methods, once all of them are known:
 * their stores are compared with what they ask for, and checked, be they those of a
 * parent context.
 */
final class LockedMethodStart implements SmartInitializingSingleton {

	private final LockedMethodRegistry methods;

	private final ObjectProvider<LockEngines> engines;

	private final ObjectProvider<LockSettings> settings;

	private final ObjectProvider<LockStart> start;

	LockedMethodStart(LockedMethodRegistry methods, ObjectProvider<LockEngines> engines,
			ObjectProvider<LockSettings> settings, ObjectProvider<LockStart> start) {
		this.methods = methods;
		this.engines = engines;
		this.settings = settings;
		this.start = start;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!this.methods.isEmpty()) {
			new StoreLimitsCheck(this.methods, this.engines.getIfAvailable(), this.settings.getIfAvailable()).check();
			this.start.ifAvailable(LockStart::start);
		}
	}

}
