package io.distributedlock.interceptor;

import org.jspecify.annotations.Nullable;

import io.distributedlock.LockConfigurationException;
import io.distributedlock.LockOperations;

/**
 * Lookup of the locks of a provider. Called for each locked call, so that implementations
 * remember what they have found, and when all singletons are ready. Implementations are
 * safe for use by many threads.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockOperationsLookup {

	/**
	 * Finds the locks of a provider.
	 * @param provider the provider that a method names, or {@code null} for the primary
	 * one
	 * @return the locks
	 * @throws LockConfigurationException if there is no such provider, or it is not clear
	 * which
	 */
	LockOperations find(@Nullable String provider);

}
