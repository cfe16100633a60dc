package io.distributedlock.autoconfigure.observe;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.autoconfigure.ProviderEngine;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;

/**
 * The engines that something has needed so far, with the locations of their stores, the
 * primary one first. Creates none: a request of an operator sets no store up.
 */
final class ManagedProviders implements Supplier<List<ManagedProvider>> {

	private final LockEngines engines;

	private final ObjectProvider<LockStoreLocation> locations;

	ManagedProviders(LockEngines engines, ObjectProvider<LockStoreLocation> locations) {
		this.engines = engines;
		this.locations = locations;
	}

	@Override
	public List<ManagedProvider> get() {
		List<ManagedProvider> all = new ArrayList<>();
		for (ProviderEngine engine : this.engines.all()) {
			String name = uniqueName(engine.provider().name(), all);
			all.add(new ManagedProvider(name, engine.provider(), engine.template(),
					location(engine.provider(), this.locations)));
		}
		return all;
	}

	/** Distinguishes providers of one name by a number. */
	private static String uniqueName(String name, List<ManagedProvider> others) {
		String unique = name;
		for (int number = 2; isUsed(unique, others); number++) {
			unique = name + "-" + number;
		}
		return unique;
	}

	private static boolean isUsed(String name, List<ManagedProvider> providers) {
		return providers.stream().anyMatch((provider) -> provider.name().equals(name));
	}

	static @Nullable String location(LockProvider provider, ObjectProvider<LockStoreLocation> locations) {
		if (provider instanceof LocalLockProvider) {
			return "memory of this process";
		}
		return locations.orderedStream()
			.filter((own) -> own.provider().equals(provider.name()))
			.map(LockStoreLocation::location)
			.findFirst()
			.orElse(null);
	}

}
