package io.distributedlock.actuate;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.distributedlock.engine.LockTemplate;
import io.distributedlock.provider.LockInspector;
import io.distributedlock.provider.LockProvider;

/**
 * A provider of the application, and its engine, as operators see them.
 *
 * @param name the name by which operators choose it
 * @param provider the provider
 * @param template its engine
 * @param location where it keeps the locks, for people, or {@code null} if not known
 * @since 0.1.0
 */
public record ManagedProvider(String name, LockProvider provider, LockTemplate template, @Nullable String location) {

	/** Returns what can be seen of other processes, if the store shows it. */
	Optional<LockInspector> inspector() {
		return (this.provider instanceof LockInspector inspector) ? Optional.of(inspector) : Optional.empty();
	}

}
