package io.distributedlock.autoconfigure.observe;

import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.actuate.LockedMethodDescriptor;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethodRegistry;

/** The locked methods that were read so far, in the order of their names. */
final class LockedMethodDescriptors implements Supplier<List<LockedMethodDescriptor>> {

	private final ObjectProvider<LockedMethodRegistry> registries;

	LockedMethodDescriptors(ObjectProvider<LockedMethodRegistry> registries) {
		this.registries = registries;
	}

	@Override
	public List<LockedMethodDescriptor> get() {
		// Classes share inherited methods.
		Set<LockedMethodDescriptor> methods = new LinkedHashSet<>();
		this.registries
			.forEach((registry) -> registry.forEach((method, attribute) -> methods.add(describe(method, attribute))));
		return methods.stream().sorted(Comparator.comparing(LockedMethodDescriptor::method)).toList();
	}

	private static LockedMethodDescriptor describe(String method, LockAttribute attribute) {
		return new LockedMethodDescriptor(method, attribute.name(), attribute.keys(), attribute.provider(),
				millis(attribute.lease()), millis(attribute.waitTime()), attribute.renew());
	}

	private static @Nullable Long millis(@Nullable Duration duration) {
		return (duration != null) ? duration.toMillis() : null;
	}

}
