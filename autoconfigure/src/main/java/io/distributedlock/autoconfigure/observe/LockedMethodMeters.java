package io.distributedlock.autoconfigure.observe;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.micrometer.LockMeterRegistration;
import io.distributedlock.micrometer.MeterLockObserver;

/**
 * The meters of all locked methods that are known when the application has started: they
 * appear with zero before the first call. A method that is read later has its meters from
 * its first call on.
 */
final class LockedMethodMeters implements SmartInitializingSingleton {

	private final LockedMethodRegistry methods;

	private final ObjectProvider<LockEngines> engines;

	private final ObjectProvider<MeterLockObserver> counters;

	private final ObjectProvider<LockMeterRegistration> timers;

	LockedMethodMeters(LockedMethodRegistry methods, ObjectProvider<LockEngines> engines,
			ObjectProvider<MeterLockObserver> counters, ObjectProvider<LockMeterRegistration> timers) {
		this.methods = methods;
		this.engines = engines;
		this.counters = counters;
		this.timers = timers;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.methods.forEach((method) -> register(method.attribute()));
	}

	private void register(LockAttribute attribute) {
		String provider = providerName(attribute.provider());
		// A mock returns no observer of a provider.
		MeterLockObserver primary = this.counters.getObject();
		Objects.requireNonNullElse(primary.ofProvider(provider), primary).register(attribute.name());
		this.timers.ifAvailable((timer) -> timer.register(attribute.name(), provider));
	}

	private String providerName(@Nullable String declared) {
		LockEngines present = this.engines.getObject();
		String additional = (declared != null) ? present.additionalName(declared) : null;
		return (additional != null) ? additional : present.primaryName();
	}

}
