package io.distributedlock.actuate;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A locked method of this process.
 *
 * @param method the method
 * @param name the name of its locks
 * @param keys the expressions of its key, empty for one lock for all calls
 * @param provider the provider that its annotation names, or {@code null} for the primary
 * one
 * @param leaseMillis its own lease, or {@code null} for the default
 * @param waitTimeMillis its own wait time, or {@code null} for the default
 * @param renew whether its lease is renewed
 * @since 0.1.0
 */
public record LockedMethodDescriptor(String method, String name, List<String> keys, @Nullable String provider,
		@Nullable Long leaseMillis, @Nullable Long waitTimeMillis, boolean renew) {

	/** Copies the list. */
	public LockedMethodDescriptor {
		keys = List.copyOf(keys);
	}

}
