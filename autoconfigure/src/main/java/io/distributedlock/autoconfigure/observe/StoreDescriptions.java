package io.distributedlock.autoconfigure.observe;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;

/** Names and locations of the stores, as Actuator shows them. */
final class StoreDescriptions {

	private StoreDescriptions() {
	}

	/**
	 * Returns the engines that something has needed so far, the primary one first, and
	 * creates none: a request of an operator sets no store up.
	 */
	static List<ManagedProvider> managed(LockEngines engines, ObjectProvider<LockStoreLocation> locations) {
		return byName(engines.all(), (engine) -> engine.provider().name()).entrySet()
			.stream()
			.map((entry) -> new ManagedProvider(entry.getKey(), entry.getValue().provider(),
					entry.getValue().template(), location(entry.getValue().provider(), locations)))
			.toList();
	}

	/** Distinguishes stores of one name by a number. */
	static <T> Map<String, T> byName(List<T> stores, Function<T, String> name) {
		Map<String, T> named = new LinkedHashMap<>();
		for (T store : stores) {
			String unique = name.apply(store);
			for (int number = 2; named.putIfAbsent(unique, store) != null; number++) {
				unique = name.apply(store) + "-" + number;
			}
		}
		return named;
	}

	static @Nullable String location(LockProvider provider, ObjectProvider<LockStoreLocation> locations) {
		if (provider instanceof LocalLockProvider) {
			return "memory of this process";
		}
		LockStoreLocation found = LockStoreLocation.find(provider, locations.orderedStream().toList());
		return (found != null) ? found.location() : null;
	}

}
