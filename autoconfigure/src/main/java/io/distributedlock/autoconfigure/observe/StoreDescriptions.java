package io.distributedlock.autoconfigure.observe;

import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.LockRequest;
import io.distributedlock.actuate.LockedMethodDescriptor;
import io.distributedlock.actuate.ManagedProvider;
import io.distributedlock.autoconfigure.LockEngines;
import io.distributedlock.autoconfigure.LockStoreLocation;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethod;
import io.distributedlock.interceptor.LockedMethodRegistry;
import io.distributedlock.local.LocalLockProvider;
import io.distributedlock.provider.LockProvider;

/** Names and locations of the stores, and the locked methods, as Actuator shows them. */
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

	/** Returns the locked methods that were read so far, in the order of their names. */
	static List<LockedMethodDescriptor> methods(ObjectProvider<LockedMethodRegistry> registries) {
		// Classes share inherited methods.
		Set<LockedMethodDescriptor> methods = new LinkedHashSet<>();
		registries.forEach((registry) -> registry.forEach((method) -> methods.add(describe(method))));
		return methods.stream().sorted(Comparator.comparing(LockedMethodDescriptor::method)).toList();
	}

	private static LockedMethodDescriptor describe(LockedMethod method) {
		LockAttribute attribute = method.attribute();
		LockRequest request = attribute.request();
		return new LockedMethodDescriptor(method.described(), attribute.name(), attribute.keys(), attribute.provider(),
				millis(request.lease()), millis(request.waitTime()), request.renew());
	}

	private static @Nullable Long millis(@Nullable Duration duration) {
		return (duration != null) ? duration.toMillis() : null;
	}

}
