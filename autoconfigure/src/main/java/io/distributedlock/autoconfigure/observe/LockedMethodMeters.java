package io.distributedlock.autoconfigure.observe;

import java.util.Objects;

import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.micrometer.LockMeterRegistration;
import io.distributedlock.micrometer.MeterLockObserver;
import io.distributedlock.micrometer.ObservationLockObserver;

/**
 * The meters of all locked methods that are known when the application has started: they
 * appear with zero before the first call. A method that is read later has its meters from
 * its first call on.
 *
 * @param methods the locked methods
 * @param engines the engines, which locked methods need
 * @param counters the observer that counts
 * @param timers the observer whose observations become timers, if there is one
 * @param registry where the timers are registered
 */
record LockedMethodMeters(LockedMethodRegistry methods, ObjectProvider<LockEngines> engines,
		ObjectProvider<MeterLockObserver> counters, ObjectProvider<ObservationLockObserver> timers,
		ObjectProvider<MeterRegistry> registry) implements SmartInitializingSingleton {

	@Override
	public void afterSingletonsInstantiated() {
		if (!this.methods.isEmpty()) {
			LockEngines present = this.engines.getObject();
			MeterLockObserver primary = this.counters.getObject();
			ObservationLockObserver observer = this.timers.getIfAvailable();
			LockMeterRegistration registration = (observer != null)
					? new LockMeterRegistration(this.registry.getObject(), observer) : null;
			this.methods.forEach((method) -> {
				LockAttribute attribute = method.attribute();
				String provider = present.observedName(attribute.provider());
				// A mock returns no observer of a provider.
				Objects.requireNonNullElse(primary.ofProvider(provider), primary).register(attribute.name());
				if (registration != null) {
					registration.register(attribute.name(), provider, attribute.request().mode());
				}
			});
		}
	}

}
