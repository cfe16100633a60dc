package io.distributedlock.autoconfigure;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.engine.grant.LockSettings;
import io.distributedlock.interceptor.LockedMethodRegistry;

/**
 * The start of locking for a context that has locked methods, once all of them are known:
 * their stores are compared with what they ask for, and checked, be they those of a
 * parent context.
 */
final class LockedMethodStart implements SmartInitializingSingleton {

	private final LockedMethodRegistry methods;

	private final BeanFactory beanFactory;

	LockedMethodStart(LockedMethodRegistry methods, BeanFactory beanFactory) {
		this.methods = methods;
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!this.methods.isEmpty()) {
			new MethodLimitsCheck(this.methods, this.beanFactory.getBeanProvider(LockEngines.class).getIfAvailable())
				.check();
			this.beanFactory.getBeanProvider(LockStart.class).ifAvailable(LockStart::start);
		}
	}

}
