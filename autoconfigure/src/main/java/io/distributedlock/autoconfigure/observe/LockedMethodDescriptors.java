package io.distributedlock.autoconfigure.observe;

import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.distributedlock.LockRequest;
import io.distributedlock.actuate.LockedMethodDescriptor;
import io.distributedlock.interceptor.LockAttribute;
import io.distributedlock.interceptor.LockedMethod;
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
		this.registries.forEach((registry) -> registry.forEach((method) -> methods.add(describe(method))));
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
